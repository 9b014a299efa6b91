// Mounts a role in a server that isn't ours: Vite's, which speaks HTTP/1 or, with https, HTTP/2. It
// converts requests as http.ts does, but doesn't own the connections.

import { type IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";

import type { HttpRequest, HttpResponse } from "../../../src/base/ports.ts";
import { below } from "../../../src/http/base-path.ts";
import { isOwnPath, pathOf } from "../../../src/http/router.ts";
import { defaultLimits } from "../../../src/base/limits.ts";
import { headProblem } from "../../../src/wire/request-head.ts";
import { nodeClock } from "../../host/clock.ts";
import { HeldMemory } from "../../host/held-memory.ts";
import { PageLinks, type PageLinksParts } from "../page-links/page-links.ts";
import { acceptRequest } from "./accept-request.ts";
import { refusal, writeAnswer } from "../writing/write-answer.ts";
import { answerPage } from "./node-upgrade.ts";

export type ConnectHandler = (
  message: IncomingMessage,
  response: ServerResponse,
  next: () => void,
) => void;

// One for all mounted roles, as a process has one memory.
const memory = new HeldMemory();

/** The part of a connect app (Vite's `server.middlewares`) that is used here. */
export interface ConnectStack {
  (message: IncomingMessage, response: ServerResponse): unknown;
  readonly stack: { route: string; handle: unknown }[];
  use(handler: ConnectHandler): unknown;
}

/** The part of a server that is used here. */
export interface UpgradingServer {
  on(
    event: "upgrade",
    listener: (message: IncomingMessage, socket: Socket, head: Buffer) => void,
  ): unknown;
}

/** Requests for links, while they pass the server's own middleware; with what happens to those that get through. */
const asking = new WeakMap<IncomingMessage, () => void>();

/**
 * Lets pages open links. A request for one passes the server's own middleware as any other does, such as Vite's check
 * of host names. Requests for other upgrades, as of Vite's own WebSocket, are left alone.
 */
export function connectPageLinks(
  server: UpgradingServer | null,
  middlewares: ConnectStack,
  parts: Omit<PageLinksParts, "memory" | "clock">,
): PageLinks {
  const pageLinks = new PageLinks({ ...parts, memory, clock: nodeClock });
  server?.on("upgrade", (message, socket, head) => {
    if (!pageLinks.asks(message)) return;
    const ignore = (): void => {};
    socket.on("error", ignore);
    const response = new ServerResponse(message);
    response.assignSocket(socket);
    response.once("finish", () => socket.destroySoon());
    asking.set(message, () => {
      response.detachSocket(socket);
      answerPage(pageLinks, message, socket, head, memory);
    });
    middlewares(message, response);
  });
  return pageLinks;
}

/** Which requests are for the role besides those for its own paths. */
export interface OtherRequests {
  /** A file with this path, by the role's CORS rules or the server's. */
  readonly isFile?: (path: string) => boolean;
  /** A route matches the request's target. */
  readonly isRoute?: (target: string) => boolean;
  /** Vite's base without the slash at its end [none]. The role gets targets without it. */
  readonly base?: string;
  /** Resolves when the routes are known. */
  readonly known?: Promise<unknown>;
}

/**
 * Lets `answer` handle the paths of a role, and its other requests. All others, and those without an answer, go to
 * the next handler. `onFault` is called with errors that `answer` throws.
 */
export function connectEndpoints(
  middlewares: ConnectStack,
  answer: (request: HttpRequest) => Promise<HttpResponse | undefined>,
  onFault: (fault: unknown) => void,
  { isFile = () => false, isRoute = () => false, base = "", known }: OtherRequests = {},
): void {
  const preflights = new WeakSet<IncomingMessage>();
  const isRolePath = (target: string): boolean => isOwnPath(target) || isRoute(target);
  let isKnown = known === undefined;
  const whenKnown = known?.then(
    () => (isKnown = true),
    () => (isKnown = true),
  );
  const first: ConnectHandler = (message, _, next) => {
    const target = below(base, message.url ?? "");
    const enter = (): void => {
      if (message.method === "OPTIONS" && isRolePath(target)) {
        preflights.add(message);
        message.method = "GET";
      }
      next();
    };
    // No route begins with @, as Vite's own addresses do.
    if (isKnown || target.startsWith("/@") || isOwnPath(target)) enter();
    else void whenKnown?.then(enter);
  };
  // Vite allows every page of this machine to read what it serves, and answers preflights itself.
  // Calls follow the application's CORS rules instead. Vite's check of host names stays in place.
  middlewares.stack.unshift({ route: "", handle: first });
  middlewares.use((message, response, next) => {
    const target = below(base, message.url ?? "");
    const admitted = asking.get(message);
    if (admitted !== undefined) return admitted();
    const isRoles = isRolePath(target);
    if (!isRoles && !isFile(pathOf(target))) return next();
    if (preflights.delete(message)) message.method = "OPTIONS";
    if (isRoles)
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
  const accepted = acceptRequest(message, response, memory, defaultLimits);
  const { request, connection } = accepted;
  try {
    const problem = headProblem(
      { target: message.url ?? "/", rawHeaders: message.rawHeaders },
      defaultLimits,
    );
    const given = await (problem === undefined
      ? answer(accepted.plain)
      : refusal(problem, accepted.plain.headers));
    request.answered();
    if (given === undefined) return next();
    await writeAnswer(message, response, given, { closing: false, connection });
  } finally {
    request.finished();
  }
}
