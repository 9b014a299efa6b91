// A role behind the server of somebody else, that speaks node:http or, with https, HTTP/2: Vite's own servers. The plain shapes again, as in
// http.ts, but no connection is ours here.

import type { IncomingMessage, ServerResponse } from "node:http";

import type { HttpRequest, HttpResponse } from "../src/ports.ts";
import { pathOf } from "../src/router.ts";
import { defaultLimits } from "../src/serializer/limits.ts";
import { headProblem } from "../src/wire/request-head.ts";
import { createConnection } from "./connection.ts";
import { HeldMemory } from "./held-memory.ts";
import { NodeRequest, refusal, writeAnswer } from "./http-message.ts";

export type ConnectHandler = (
  message: IncomingMessage,
  response: ServerResponse,
  next: () => void,
) => void;

/** Of all that is answered here: one process has one memory. */
const memory = new HeldMemory();

/** What stands under a role's own addresses: procedures, the runtime of pages, health (§4). */
const doors = /^\/(?:rpc|svc|health)(?:[/?]|$)/;

/** The part of connect's `app` that is used here: Vite's `server.middlewares`. */
export interface ConnectStack {
  readonly stack: { route: string; handle: unknown }[];
  use(handler: ConnectHandler): unknown;
}

/**
 * Has `answer` answer what belongs to a role's doors, or has a path that `isMore` takes; the rest, and what it has no answer to, goes to the next.
 * `onFault` hears of an error that it let through.
 */
export function connectDoors(
  middlewares: ConnectStack,
  answer: (request: HttpRequest) => Promise<HttpResponse | undefined>,
  onFault: (fault: unknown) => void,
  isMore: (path: string) => boolean = () => false,
): void {
  const preflights = new WeakSet<IncomingMessage>();
  const first: ConnectHandler = (message, _, next) => {
    if (doors.test(message.url ?? "") && message.method === "OPTIONS") {
      preflights.add(message);
      message.method = "GET";
    }
    next();
  };
  // Vite lets every page of this machine read what it serves, and answers preflights itself, before anybody is asked. Calls go by the application's
  // own rule. Its check of hosts, which stands there as well, holds.
  middlewares.stack.unshift({ route: "", handle: first });
  middlewares.use((message, response, next) => {
    const target = message.url ?? "";
    const isDoor = doors.test(target);
    if (!isDoor && !isMore(pathOf(target))) return next();
    if (preflights.delete(message)) message.method = "OPTIONS";
    if (isDoor)
      for (const name of response.getHeaderNames())
        if (/^(?:access-control-.*|vary)$/i.test(name)) response.removeHeader(name);
    serve(answer, message, response, next).catch((fault: unknown) => {
      onFault(fault);
      if (response.headersSent) response.destroy();
      else response.writeHead(500, { "content-length": 0 }).end();
    });
  });
}

async function serve(
  answer: (request: HttpRequest) => Promise<HttpResponse | undefined>,
  message: IncomingMessage,
  response: ServerResponse,
  next: () => void,
): Promise<void> {
  const connection = createConnection(message.socket, {
    memory,
    untakenMs: defaultLimits.requestTime,
    isSpare: false,
  });
  response.once("close", () => {
    connection.holder.close();
    if (!response.writableFinished) for (const abort of connection.aborts) abort();
  });
  const request = new NodeRequest(message, connection, undefined);
  try {
    const problem = headProblem(
      { target: message.url ?? "/", rawHeaders: message.rawHeaders },
      defaultLimits,
    );
    const given =
      problem === undefined
        ? await answer(message.httpVersionMajor < 2 ? request : plain(request))
        : refusal(problem);
    request.answered();
    if (given === undefined) return next();
    await writeAnswer(message, response, given, { closing: false, connection });
  } finally {
    request.finished();
  }
}

/** In HTTP/2 method and path are headers too, with names that none has (RFC 9113 §8.3), and the host is one of them. */
function plain(request: NodeRequest): HttpRequest {
  const { ":authority": host, ...given } = request.headers;
  const headers = Object.fromEntries(
    Object.entries({ host, ...given }).filter(([name]) => !name.startsWith(":")),
  );
  return {
    method: request.method,
    target: request.target,
    scheme: request.scheme,
    headers,
    readBody: async (limit) => await request.readBody(limit),
    get signal() {
      return request.signal;
    },
  };
}
