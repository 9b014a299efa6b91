// Converts between node:http and the plain shapes of src/base/ports.ts, and decides nothing about
// requests. This file has the connections; node-request.ts has one request, write-answer.ts its answer.

import type { LinkAnswer, LinkUpgrade } from "../../src/base/ports/links.ts";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { BadRequest, type NodeNotAvailable } from "../../src/base/errors.ts";
import type { HttpRequest, HttpResponse } from "../../src/base/ports.ts";
import { rpcPath } from "../../src/base/protocol.ts";
import { defaultLimits } from "../../src/base/limits.ts";
import { refusedStart } from "../../src/http/refusals.ts";
import { headProblem, wireMargin } from "../../src/wire/request-head.ts";
import {
  type CallerConnection,
  ConnectionsEnd,
  createCloser,
  createCallerConnection,
  endFaulty,
  isStillOpen,
} from "./connection/caller-connection.ts";
import type { Heartbeat } from "../host/event-loop.ts";
import { HeldMemory } from "../host/held-memory.ts";
import type { HttpLimits, ServerRequest } from "./server-request.ts";
import { asksForLink, LinkSockets } from "./links/accept.ts";
import type { PageLinks } from "./page-links/page-links.ts";
import {
  acceptRest,
  bind,
  createHttpServer,
  type Listening,
  speaksHttp2,
  urlOf,
  watchHandshakes,
} from "./listening.ts";
import { NodeRequest } from "./node-request.ts";
import { refusalPace } from "./writing/pace.ts";
import { isLong, packed } from "./writing/packed-answer.ts";
import { refusal, writeAnswer } from "./writing/write-answer.ts";
import { spareConnections } from "./connection/limits.ts";

export interface ListenOptions extends Listening {
  readonly limits?: Partial<HttpLimits>;
  /** Counts the bytes that callers make this service hold. */
  readonly memory?: HeldMemory;
  /** Answers another service's request for a link. Without it such requests are refused. */
  readonly acceptLink?: ((upgrade: LinkUpgrade) => LinkAnswer) | undefined;
  /** The links of pages. Without it pages get none. */
  readonly pageLinks?: PageLinks | undefined;
  /** Whether long answers to calls are compressed for callers that accept it [no]. */
  readonly compression?: boolean | undefined;
  /** Called with an error that the handler threw, which is a bug: handlers answer. */
  readonly onFault?: (fault: unknown) => void;
  /** Tells whether requests have waited because the event loop was late. */
  readonly heartbeat?: Pick<Heartbeat, "lateSince" | "foundWaiting">;
  /** Called with the number of requests that were cut when the server closed. */
  readonly onCut?: (count: number) => void;
}

export interface HttpServer {
  /** Where it listens, with the actual port and without a slash at the end. */
  readonly url: string;
  /**
   * Serves on, but closes each connection after its answer, so that callers move to another
   * service.
   */
  drain(): void;
  /**
   * Stops accepting, closes idle connections, and lets requests finish for `graceMs`. Requests that still run are
   * cut with 503. Links stay, as long as the role keeps them. May be called
   * again, with less time.
   */
  close(graceMs: number): Promise<void>;
}

/**
 * Listens and passes each request to `handle`. Rejects with one clear message if it can't listen.
 */
export async function listen(
  handle: (request: HttpRequest) => Promise<HttpResponse>,
  options: ListenOptions,
): Promise<HttpServer> {
  const limits = { ...defaultLimits, ...options.limits };
  const { memory = new HeldMemory(), compression = false } = options;
  const connections = new Map<Socket, CallerConnection>();
  const closeOne = createCloser(connections, memory);
  const links = options.acceptLink && new LinkSockets(options.acceptLink);
  const { pageLinks } = options;
  const upgraded = (): number => (links?.size ?? 0) + (pageLinks?.size ?? 0);
  let closing = false;
  let end: ConnectionsEnd | undefined;

  const finished = ({ message: { socket }, response, request, owner }: ServerRequest): void => {
    request.finished();
    owner.open--;
    owner.idleSince = performance.now();
    if (!closing && !owner.isSpare) return;
    if (owner.end !== undefined) return owner.end();
    if (!closing) return;
    const letGo = (): void => void (owner.open === 0 && socket.destroySoon());
    if (response.closed) letGo();
    else response.once("close", letGo);
  };

  const receive = (
    message: IncomingMessage,
    response: ServerResponse,
    awaitsContinue: boolean,
  ): void => {
    const connection = connections.get(message.socket);
    if (connection === undefined) return void response.destroy();
    restoreUpgrade(message, connection);
    const request = new NodeRequest(
      message,
      connection,
      awaitsContinue ? () => response.writeContinue() : undefined,
    );
    const { rawHeaders } = message;
    const problem = versionProblem(message);
    serve({ message, response, request, connection, owner: connection, rawHeaders, problem });
  };

  const serve = (incoming: ServerRequest): void => {
    const { message, response, request, connection, owner } = incoming;
    owner.open++;
    const isFirst = connection.request === undefined;
    connection.request = request;
    const finish = (): void => finished(incoming);
    const fail = (fault: unknown): void => {
      options.onFault?.(fault);
      if (response.headersSent) response.destroy();
      else response.writeHead(500, { "content-length": 0, "cache-control": "no-store" }).end();
      finish();
    };
    const write = (answer: HttpResponse): void => {
      if (!compression || !isLong(answer.body)) return send(answer);
      const found = packed(request, answer, connection.holder);
      if (found instanceof Promise) found.then(send, fail);
      else send(found);
    };
    const send = (answer: HttpResponse): void => {
      try {
        request.answered();
        const writing = writeAnswer(message, response, answer, {
          closing: closing || owner.isSpare,
          connection,
        });
        // Nothing here may hold the answer: one that is written in slices would stay in memory
        // whole.
        if (writing === undefined) finish();
        else writing.then(finish, fail);
      } catch (fault) {
        fail(fault);
      }
    };
    const problem =
      headProblem({ target: message.url ?? "/", rawHeaders: incoming.rawHeaders }, limits) ??
      incoming.problem;
    const refused =
      problem ?? (owner.isSpare && request.target.startsWith(rpcPath) ? noConnection() : undefined);
    if (refused !== undefined) {
      // At once if possible: a refusal mustn't wait for the rest of a body.
      const answer = refusal(refused, request.headers);
      return answer instanceof Promise ? void answer.then(write, fail) : write(answer);
    }
    const lateSince = options.heartbeat?.lateSince;
    if (lateSince === undefined) return void handle(request).then(write, fail);
    const since = isFirst ? lateSince : Math.max(lateSince, owner.idleSince);
    request.waitedMs = performance.now() - since;
    // While this process read nothing, the caller may have left.
    void isStillOpen(message.socket).then((isOpen) => {
      if (isOpen) return void handle(request).then(write, fail);
      options.heartbeat?.foundWaiting();
      finish();
    });
  };

  const settings = {
    maxHeaderSize: limits.headerBytes + wireMargin.bytes,
    headersTimeout: Math.min(limits.headerTimeoutMs, limits.requestTimeoutMs),
    requestTimeout: limits.requestTimeoutMs,
    keepAliveTimeout: limits.keepAliveTimeoutMs,
    // How often Node looks for slow requests: with its default of 30 s, a limit of 10 s could be 40
    // s.
    connectionsCheckingInterval: Math.min(1_000, limits.headerTimeoutMs),
    noDelay: true,
  };
  const server = await createHttpServer(options.tls, settings);
  const handshakes = options.tls === undefined ? new Set<Socket>() : watchHandshakes(server);
  server.maxConnections = limits.maxConnections + spareConnections;
  // Node silently drops fields past this number. We can only refuse too many if we see one more.
  server.maxHeadersCount = limits.headerCount + wireMargin.fields + 1;
  const connected = options.tls === undefined ? "connection" : "secureConnection";
  const sessions =
    options.tls &&
    new (await import("./http2-sessions.ts")).Http2Sessions({ limits, memory, serve });
  server.on(connected, (socket: Socket) => {
    if (connections.has(socket)) return;
    // Node keeps the address that was once read: a procedure can read it after the caller has left.
    void socket.remoteAddress;
    const isSpare = connections.size + upgraded() >= limits.maxConnections && !closeOne();
    const connection = createCallerConnection(socket, {
      memory,
      untakenMs: limits.requestTimeoutMs,
      idleMs: limits.idleTimeoutMs,
      isSpare,
      onFault: options.onFault,
    });
    connections.set(socket, connection);
    socket.once("close", () => {
      connections.delete(socket);
      connection.holder.close();
      if (connections.size === 0) end?.reached();
      for (const leaver of connection.leavers.all()) leaver.leave();
    });
    if (sessions !== undefined && speaksHttp2(socket)) sessions.accept(socket, connection);
  });
  server.on("request", (message, response) => receive(message, response, false));
  server.on("clientError", (error, socket) => {
    // Node's time limit doesn't fit bodies that stream. It reports each late request once.
    const isLate = (error as NodeJS.ErrnoException).code === "ERR_HTTP_REQUEST_TIMEOUT";
    if (isLate && connections.get(socket as Socket)?.request?.mayTakeLong === true) return;
    endFaulty(error, socket as Socket);
  });
  // Without this, Node would request the body even if its length alone gets it refused.
  server.on("checkContinue", (message, response) => receive(message, response, true));
  if (links !== undefined || pageLinks !== undefined)
    server.on("upgrade", (message, stream, head) => {
      const socket = stream as Socket;
      const connection = connections.get(socket);
      // Earlier requests on the connection must be answered first.
      if (connection === undefined || connection.open > 0) return void socket.destroy();
      if (pageLinks?.asks(message) === true) {
        // From now on `pageLinks` counts it.
        if (pageLinks.answer(message, socket, head, connection)) connections.delete(socket);
        return;
      }
      const unread: Buffer[] = [head];
      if (links === undefined || !asksForLink(message))
        unread.unshift(withoutUpgrade(message, connection));
      else {
        const state = links.answer(message, socket, head, connection, closing);
        // From now on `links` counts it.
        if (state === "link") connections.delete(socket);
        if (state !== "http") return;
      }
      // With a listener for upgrades Node leaves the connection alone. It is handed back as a new one, so all time
      // limits apply again.
      const goOn = (): void => {
        socket.unshift(Buffer.concat(unread));
        server.emit(connected, socket);
      };
      // A service needs one challenge. Strangers that keep asking would delay its link.
      const turn = connection.wasRefused === true ? refusalPace.piece(1) : undefined;
      connection.wasRefused = true;
      if (turn === undefined) return goOn();
      const ignore = (): void => {};
      socket.on("error", ignore);
      void turn.then(() => {
        socket.off("error", ignore);
        if (!socket.destroyed) goOn();
      });
    });

  const address = await bind(server, options);
  // An error of the listening socket after the start belongs to no request, and must not end the
  // process.
  server.on("error", (fault) => options.onFault?.(fault));
  return {
    url: urlOf(options, address),
    drain() {
      closing = true;
      pageLinks?.drain();
      sessions?.drain();
    },
    async close(graceMs) {
      closing = true;
      const pagesEnd = pageLinks?.close(graceMs);
      if (graceMs > 0) await acceptRest(server);
      // Its own end waits for links, too, which may bring answers to requests.
      server.close();
      for (const socket of handshakes) socket.destroy();
      end ??= new ConnectionsEnd(connections, options.onCut);
      await Promise.all([end.within(graceMs), pagesEnd]);
    },
  };
}

/** Node's parser also accepts other versions; HTTP/0.9 has no headers, and so no host. */
function versionProblem({ httpVersion }: IncomingMessage): BadRequest | undefined {
  return httpVersion === "1.1" || httpVersion === "1.0"
    ? undefined
    : new BadRequest("This service speaks HTTP/1.1");
}

/**
 * The head of a request for an unknown protocol, without the `upgrade` field, at which Node's parser would end. It
 * is answered as if it hadn't asked for an upgrade.
 */
function withoutUpgrade(
  { method, url, httpVersion, rawHeaders, headers }: IncomingMessage,
  connection: CallerConnection,
): Buffer {
  connection.upgrade = headers.upgrade;
  let text = `${method} ${url} HTTP/${httpVersion}\r\n`;
  for (let at = 0; at < rawHeaders.length; at += 2)
    if (rawHeaders[at]!.toLowerCase() !== "upgrade")
      text += `${rawHeaders[at]}: ${rawHeaders[at + 1]}\r\n`;
  return Buffer.from(`${text}\r\n`, "latin1");
}

/** Restores the field that {@link withoutUpgrade} has removed: routes refuse it. */
function restoreUpgrade(message: IncomingMessage, connection: CallerConnection): void {
  const { upgrade } = connection;
  if (upgrade === undefined) return;
  connection.upgrade = undefined;
  message.rawHeaders.push("upgrade", upgrade);
  message.headers.upgrade = upgrade;
}

function noConnection(): NodeNotAvailable {
  return refusedStart(
    "overload",
    "This service has as many connections open as limits.maxConnections allows; try again",
  );
}
