// JSON from another service, for the console: without an answer in time there is nothing to show.

import { bounded } from "../../../src/base/aborts.ts";
import type { Host, Peer } from "../../../src/base/ports.ts";
import { anyUpstream } from "../../../src/base/protocol.ts";
import { collected } from "../../../src/http/bodies.ts";
import { typesAnswerMs } from "../base/times.ts";

/** More than any procedure's types are. */
const mostTypesBytes = 1024 * 1024;

/** A procedure's parameters, from another service: below `path`. */
export async function fetchTypes(
  way: Parameters<typeof fetchJson>[0],
  path: string,
  { fqn, version }: { readonly fqn: string; readonly version: string },
): Promise<unknown> {
  const name = fqn.split("/").map(encodeURIComponent).join("/");
  return await fetchJson(way, {
    url: `${anyUpstream}${path}${name}?version=${version}`,
    timeoutMs: typesAnswerMs,
    maxBytes: mostTypesBytes,
  });
}

interface JsonRequest {
  readonly url: string;
  readonly timeoutMs: number;
  readonly maxBytes?: number;
}

/** `undefined` if no 200 with JSON comes in time, or if it is larger than `maxBytes`. */
export async function fetchJson(
  { clock, transport }: Pick<Host, "clock"> & { readonly transport: Peer },
  { url, timeoutMs, maxBytes = Number.POSITIVE_INFINITY }: JsonRequest,
): Promise<unknown> {
  try {
    const { status, body } = await bounded(
      undefined,
      clock,
      timeoutMs,
      () => new Error("no answer"),
      (signal) =>
        collected(
          transport.send({ url, method: "GET", headers: {}, from: "key", control: true, signal }),
        ),
    );
    if (status !== 200 || body.length > maxBytes) return undefined;
    return JSON.parse(new TextDecoder().decode(body));
  } catch {
    // Other parts of the console show whether a service can be reached.
    return undefined;
  }
}
