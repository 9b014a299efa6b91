// node:http ↔ the plain shapes of src/ports.ts, and nothing else: no decision about any request is made here.
// This file has the connections; http-message.ts one request and its answer.

import {
  createServer,
  type IncomingMessage,
  type Server,
  type ServerOptions,
  type ServerResponse,
} from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { BadRequest, NodeNotAvailable } from "../src/errors.ts";
import type { HttpRequest, HttpResponse } from "../src/ports.ts";
import { rpcPath } from "../src/protocol.ts";
import { defaultLimits, type Limits } from "../src/serializer/limits.ts";
import { headProblem, wireMargin } from "../src/wire/request-head.ts";
import { type Connection, createCloser, createConnection } from "./connection.ts";
import { HeldMemory } from "./held-memory.ts";
import { NodeRequest, refusal, writeAnswer } from "./http-message.ts";
import type { TlsFiles } from "./tls.ts";

/** What a connection may take; the numbers are those of the service. */
export type HttpLimits = Pick<
  Limits,
  "header" | "headerCount" | "headerTime" | "requestTime" | "connections"
>;

// Longer than any load balancer in front keeps its side, so that it is never we who close a connection just as a request comes in on it.
const keepAlive = 65_000;
// Connections that the kernel holds until we take them; it has a limit of its own. With Node's 511 a burst of callers waits a second.
const backlog = 4_096;
// Connections past the limit that are still taken, so that health checks get through, and callers learn why theirs don't.
const spareConnections = 64;

export interface ListenOptions {
  readonly host: string;
  /** `0` takes one that is free. */
  readonly port: number;
  readonly limits?: Partial<HttpLimits>;
  /** Where it counts what callers make it hold. */
  readonly memory?: HeldMemory;
  /** Listens with https. */
  readonly tls?: Pick<TlsFiles, "cert" | "key" | "passphrase"> | undefined;
  /** Told of an error that the handler let through. It is a fault of the program: handlers answer, they don't throw. */
  readonly onFault?: (fault: unknown) => void;
}

export interface HttpServer {
  /** Where it listens, with the real port and without a slash at the end. */
  readonly url: string;
  /** Goes on serving, but every answer ends its connection: who has one takes another service for the next request. */
  drain(): void;
  /** Stops accepting, closes idle connections, lets requests finish for `graceMs`, then cuts. */
  close(graceMs: number): Promise<void>;
}

/** Listens and hands each request to `handle`. Rejects with one clear message when the address can't be taken. */
export async function listen(
  handle: (request: HttpRequest) => Promise<HttpResponse>,
  options: ListenOptions,
): Promise<HttpServer> {
  const limits = { ...defaultLimits, ...options.limits };
  const { memory = new HeldMemory() } = options;
  const connections = new Map<Socket, Connection>();
  const closeOne = createCloser(connections, memory);
  let closing = false;

  const serve = async (
    message: IncomingMessage,
    response: ServerResponse,
    awaitsContinue: boolean,
  ): Promise<void> => {
    const { socket } = message;
    const connection = connections.get(socket);
    if (connection === undefined) return void response.destroy();
    connection.open++;
    const request = new NodeRequest(
      message,
      connection,
      awaitsContinue ? () => response.writeContinue() : undefined,
    );
    const write = (answer: HttpResponse): Promise<void> | void => {
      request.answered();
      return writeAnswer(message, response, answer, {
        closing: closing || connection.isSpare,
        connection,
      });
    };
    // What it returns holds no answer: one that is written slice by slice must not stay whole for as long.
    const respond = (): Promise<void> | void => {
      const problem =
        headProblem({ target: message.url ?? "/", rawHeaders: message.rawHeaders }, limits) ??
        versionProblem(message);
      if (problem !== undefined) return write(refusal(problem));
      if (connection.isSpare && request.target.startsWith(rpcPath))
        return write(refusal(noConnection()));
      return handle(request).then(write);
    };
    try {
      await respond();
    } catch (fault) {
      options.onFault?.(fault);
      if (response.headersSent) response.destroy();
      else response.writeHead(500, { "content-length": 0, "cache-control": "no-store" }).end();
    } finally {
      request.finished();
      connection.open--;
      connection.idleSince = performance.now();
      if (closing) {
        const letGo = (): void => void (connection.open === 0 && socket.destroySoon());
        if (response.closed) letGo();
        else response.once("close", letGo);
      }
    }
  };

  const settings = {
    maxHeaderSize: limits.header + wireMargin.bytes,
    headersTimeout: Math.min(limits.headerTime, limits.requestTime),
    requestTimeout: limits.requestTime,
    keepAliveTimeout: keepAlive,
    // How often slow requests are looked for: with Node's 30 s a limit of 10 s would be one of 40.
    connectionsCheckingInterval: Math.min(1_000, limits.headerTime),
    noDelay: true,
  };
  const server =
    options.tls === undefined
      ? createServer(settings)
      : await createTlsServer(options.tls, settings);
  const handshakes = options.tls === undefined ? new Set<Socket>() : watchHandshakes(server);
  server.maxConnections = limits.connections + spareConnections;
  // Past it Node drops fields without a word. It has to be above what we refuse, for us to see that there are too many.
  server.maxHeadersCount = limits.headerCount + wireMargin.fields + 1;
  server.on(options.tls === undefined ? "connection" : "secureConnection", (socket: Socket) => {
    const isSpare = connections.size >= limits.connections && !closeOne();
    const connection = createConnection(socket, { memory, untakenMs: limits.requestTime, isSpare });
    connections.set(socket, connection);
    socket.once("close", () => {
      connections.delete(socket);
      connection.holder.close();
      for (const abort of connection.aborts) abort();
    });
  });
  server.on("request", (message, response) => void serve(message, response, false));
  // Without this Node asks for the body at once, also for one that is refused by its length alone.
  server.on("checkContinue", (message, response) => void serve(message, response, true));

  const { address, port } = await bind(server, options);
  // An error of the listening socket after the start has no request to answer to, and must not end the process.
  server.on("error", (fault) => options.onFault?.(fault));
  const name = options.host === "" ? address : options.host;
  return {
    url: `${schemeOf(options)}://${name.includes(":") ? `[${name}]` : name}:${port}`,
    drain() {
      closing = true;
    },
    close: (graceMs) =>
      new Promise((resolve) => {
        closing = true;
        const cut = setTimeout(() => server.closeAllConnections(), graceMs);
        server.close(() => {
          clearTimeout(cut);
          resolve();
        });
        // Node counts a connection that never sent a request as busy; browsers open such ones ahead of need.
        // What is written of an answer is still sent.
        for (const [socket, connection] of connections)
          if (connection.open === 0) socket.destroySoon();
        for (const socket of handshakes) socket.destroy();
      }),
  };
}

async function createTlsServer(
  tls: NonNullable<ListenOptions["tls"]>,
  settings: ServerOptions & { headersTimeout: number },
): Promise<Server> {
  const { createServer: create } = await import("node:https");
  // A caller who never finishes the handshake holds a connection like one who never finishes a request's head.
  return create({ ...settings, ...tls, handshakeTimeout: settings.headersTimeout });
}

/** Connections that are no HTTP yet: no list of the server's has them, and it would wait for them at its end. */
function watchHandshakes(server: Server): Set<Socket> {
  const open = new Set<Socket>();
  server.on("connection", (raw: Socket) => {
    open.add(raw);
    raw.once("close", () => open.delete(raw));
  });
  server.on("secureConnection", (socket: Socket) => {
    // The one that became this has the same other end.
    for (const raw of open)
      if (raw.remotePort === socket.remotePort && raw.remoteAddress === socket.remoteAddress)
        open.delete(raw);
  });
  return open;
}

/** Node's parser also takes versions that this server doesn't speak; HTTP/0.9 has no headers, and so no host. */
function versionProblem({ httpVersion }: IncomingMessage): BadRequest | undefined {
  return httpVersion === "1.1" || httpVersion === "1.0"
    ? undefined
    : new BadRequest("This service speaks HTTP/1.1");
}

function noConnection(): NodeNotAvailable {
  return new NodeNotAvailable(
    "This service has as many connections open as limits.connections allows; try again",
  );
}

function schemeOf({ tls }: Pick<ListenOptions, "tls">): "http" | "https" {
  return tls === undefined ? "http" : "https";
}

async function bind(server: Server, options: ListenOptions): Promise<AddressInfo> {
  const { host, port } = options;
  await new Promise<void>((resolve, reject) => {
    server.once("error", (error: NodeJS.ErrnoException) => reject(listenError(error, options)));
    server.listen({ host: host === "" ? undefined : host, port, backlog }, resolve);
  });
  server.removeAllListeners("error");
  return server.address() as AddressInfo;
}

function listenError(error: NodeJS.ErrnoException, options: ListenOptions): Error {
  const { host, port } = options;
  const url = `${schemeOf(options)}://${host.includes(":") ? `[${host}]` : host}:${port}`;
  const reasons: Record<string, string> = {
    EADDRINUSE: `port ${port} is taken by another process. Stop that one, or give another port in 'url'`,
    EADDRNOTAVAIL: `${host} is no address of this machine. Give one that it has in 'url', or 0.0.0.0 for all of them`,
    EACCES: `this user may not open port ${port}. Give one from 1024 up in 'url'`,
    ENOTFOUND: `the host name ${host} is not known. Correct it in 'url'`,
  };
  return new Error(`Can't listen at ${url}: ${reasons[error.code ?? ""] ?? error.message}`, {
    cause: error,
  });
}
