// A role behind the server of somebody else, that speaks node:http or, with https, HTTP/2: Vite's own servers. The plain shapes again, as in
// http.ts, but no connection is ours here.

import type { IncomingMessage, ServerResponse } from "node:http";

import type { HttpRequest, HttpResponse } from "../src/ports.ts";
import { defaultLimits } from "../src/serializer/limits.ts";
import { type Connection, NodeRequest, writeAnswer } from "./http-message.ts";

export type Middleware = (message: IncomingMessage, response: ServerResponse, next: (fault?: unknown) => void) => void;

/** What stands under a role's own addresses: procedures, the runtime of pages, health (§4). */
const doors = /^\/(?:rpc|svc|health)(?:[/?]|$)/;

/** Hands what belongs to a role's doors to `handle`, and the rest on. */
export function connectRole(handle: (request: HttpRequest) => Promise<HttpResponse>): Middleware {
  return (message, response, next) => {
    if (doors.test(message.url ?? "")) answer(handle, message, response).catch(next);
    else next();
  };
}

async function answer(
  handle: (request: HttpRequest) => Promise<HttpResponse>,
  message: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const connection: Connection = { open: 1, aborts: new Set() };
  response.once("close", () => {
    if (!response.writableEnded) for (const abort of connection.aborts) abort();
  });
  const request = new NodeRequest(message, connection, undefined);
  try {
    const given = await handle(message.httpVersionMajor < 2 ? request : plain(request));
    await writeAnswer(message, response, given, { closing: false, takeTime: defaultLimits.requestTime });
  } finally {
    request.finished();
  }
}

/** In HTTP/2 method and path are headers too, with names that none has (RFC 9113 §8.3), and the host is one of them. */
function plain(request: NodeRequest): HttpRequest {
  const { ":authority": host, ...given } = request.headers;
  const headers = Object.fromEntries(Object.entries({ host, ...given }).filter(([name]) => !name.startsWith(":")));
  return {
    method: request.method,
    target: request.target,
    headers,
    readBody: (limit) => request.readBody(limit),
    get signal() {
      return request.signal;
    },
  };
}
