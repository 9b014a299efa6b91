// A request of a server that isn't ours, in the form that http.ts makes of its own. The connections, of HTTP/1 or
// HTTP/2, belong to that server.

import type { IncomingMessage, ServerResponse } from "node:http";

import type { HttpRequest } from "../../../src/base/ports.ts";
import { type CallerConnection, createCallerConnection } from "../connection/caller-connection.ts";
import type { HeldMemory } from "../../host/held-memory.ts";
import type { HttpLimits } from "../server-request.ts";
import { NodeRequest } from "../node-request.ts";

/** A request, with its memory and listeners. */
export interface AcceptedRequest {
  readonly request: NodeRequest;
  /** The request for roles, the same for all versions of HTTP. */
  readonly plain: HttpRequest;
  readonly connection: CallerConnection;
  /** Releases it: another handler answers. */
  letGo(): void;
}

export function acceptRequest(
  message: IncomingMessage,
  response: ServerResponse,
  memory: HeldMemory,
  limits: Pick<HttpLimits, "requestTimeoutMs" | "idleTimeoutMs">,
): AcceptedRequest {
  const connection = createCallerConnection(message.socket, {
    memory,
    untakenMs: limits.requestTimeoutMs,
    idleMs: limits.idleTimeoutMs,
    isSpare: false,
  });
  const request = new NodeRequest(message, connection, undefined);
  const closed = (): void => {
    connection.holder.close();
    // Over HTTP/2 an answer counts as finished even if its stream was cancelled.
    const { aborted } = message as { readonly aborted?: boolean };
    const isLeft = message.httpVersionMajor < 2 ? !response.writableFinished : aborted;
    if (isLeft) for (const leaver of connection.leavers.all()) leaver.leave();
  };
  response.once("close", closed);
  return {
    request,
    plain: message.httpVersionMajor < 2 ? request : withoutPseudoHeaders(request),
    connection,
    letGo() {
      response.off("close", closed);
      request.finished();
    },
  };
}

/** Removes the pseudo-headers of HTTP/2 (RFC 9113, section 8.3), of which one is the host. */
function withoutPseudoHeaders(request: NodeRequest): HttpRequest {
  const { ":authority": host, ...fields } = request.headers;
  const headers = Object.fromEntries(
    Object.entries({ host, ...fields }).filter(([name]) => !name.startsWith(":")),
  );
  return {
    method: request.method,
    target: request.target,
    scheme: request.scheme,
    get address() {
      return request.address;
    },
    headers,
    body: request.body,
    readBody: async (limit) => await request.readBody(limit),
    get signal() {
      return request.signal;
    },
    get onCut() {
      return request.onCut;
    },
    set onCut(end) {
      request.onCut = end;
    },
  };
}
