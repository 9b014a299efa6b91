// The access log: a line for each request that a service answers.

import type { HttpRequest, HttpResponse, Log } from "../../../src/base/ports.ts";
import type { LogFields, RequestNotes } from "../../../src/base/ports/telemetry.ts";
import { rpcPath } from "../../../src/base/protocol.ts";
import { withoutVersion } from "../../../src/base/version.ts";
import { requestIdOf } from "../../../src/http/tracing/request-ids.ts";
import { traceIdOf } from "../../../src/http/tracing/trace-context.ts";
import { pathOf } from "../../../src/http/router.ts";

/** A request that has been answered. */
export interface Answered {
  readonly request: HttpRequest;
  readonly notes: RequestNotes;
  readonly response: HttpResponse;
  readonly ms: number;
}

/** Writes the line. It leaves out query, headers and body, which may hold secrets. */
export function logRequest(log: Log, { request, notes, response, ms }: Answered): void {
  const { method, headers } = request;
  // Parts of a route's path may be secrets, such as the token of a link in a mail.
  const path = notes.route?.path ?? visible(pathOf(request.target));
  const took = Math.round(ms * 100) / 100;
  const hasLeft = (request.departure ?? request.signal).aborted;
  const about: LogFields = {
    event: "request",
    request: requestIdOf(headers),
    trace: traceIdOf(headers),
    procedure: notes.route?.name ?? procedureIn(path),
    method,
    path,
    status: response.status,
    ms: took,
    ...(hasLeft && { left: true }),
  };
  log.info(
    `${method} ${path} ${response.status} in ${took} ms${hasLeft ? ", and the caller had left" : ""}`,
    about,
  );
}

/** The name in the path of a call, as its caller wrote it. */
function procedureIn(path: string): string | undefined {
  if (!path.startsWith(rpcPath)) return undefined;
  const name = path.slice(rpcPath.length);
  try {
    return visible(withoutVersion(decodeURIComponent(name)));
  } catch {
    // A malformed escape: the call was refused for it.
    return name;
  }
}

/** Hides characters that a terminal takes for a command. */
function visible(text: string): string {
  return text.replaceAll(/[^\x20-\x7e]/gu, (character) => encodeURIComponent(character));
}
