// node:http ↔ the plain shapes of src/ports.ts, and nothing else: no decision about any request is made here.

import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { BadRequest, PayloadTooLarge } from "../src/errors.ts";
import type { HttpRequest, HttpResponse } from "../src/ports.ts";

/** What a connection may take. Times in ms. */
export interface HttpLimits {
  /** Bytes of all headers of a request: over it `431`. */
  readonly header: number;
  /** From a request's first byte to the end of its headers: over it `408`. */
  readonly headerTime: number;
  /** From a request's first byte to the end of its body: over it `408`. */
  readonly requestTime: number;
  /** Connections at once; more are closed as they come. */
  readonly connections: number;
}

/** Slow headers 10 s, slow requests 30 s (R14). */
export const httpLimits: HttpLimits = { header: 16_384, headerTime: 10_000, requestTime: 30_000, connections: 10_000 };

// Longer than any load balancer in front keeps its side, so that it is never we who close a connection just as a request comes in on it.
const keepAlive = 65_000;
// How long an answered caller may go on sending a body that nobody reads, before he is cut.
const lingerTime = 2_000;
// Bytes of a body that nobody reads which still cost less than a new connection.
const dropped = 65_536;

export interface ListenOptions {
  readonly host: string;
  /** `0` takes one that is free. */
  readonly port: number;
  readonly limits?: Partial<HttpLimits>;
  /** Told of an error that the handler let through. It is a fault of the program: handlers answer, they don't throw. */
  readonly onFault?: (fault: unknown) => void;
}

export interface HttpServer {
  /** Where it listens, with the real port and without a slash at the end. */
  readonly url: string;
  /** Stops accepting, closes idle connections, lets requests finish for `graceMs`, then cuts. */
  close(graceMs: number): Promise<void>;
}

/** One connection: how many requests it has open, and what to abort when it closes. */
interface Connection {
  open: number;
  readonly aborts: Set<() => void>;
}

/** Listens and hands each request to `handle`. Rejects with one clear message when the address can't be taken. */
export async function listen(handle: (request: HttpRequest) => Promise<HttpResponse>, options: ListenOptions): Promise<HttpServer> {
  const limits = { ...httpLimits, ...options.limits };
  const connections = new Map<Socket, Connection>();
  let closing = false;

  const serve = async (message: IncomingMessage, response: ServerResponse, awaitsContinue: boolean): Promise<void> => {
    const { socket } = message;
    const connection = connections.get(socket);
    if (connection !== undefined) connection.open++;
    response.once("close", () => {
      if (connection === undefined) return;
      connection.open--;
      if (closing && connection.open === 0) socket.end();
    });
    const request = new NodeRequest(message, connection, awaitsContinue ? () => response.writeContinue() : undefined);
    try {
      const answer = await handle(request);
      await write(message, response, answer, closing);
    } catch (fault) {
      options.onFault?.(fault);
      if (response.headersSent) response.destroy();
      else response.writeHead(500, { "content-length": 0, "cache-control": "no-store" }).end();
    } finally {
      request.finished();
    }
  };

  const server = createServer({
    maxHeaderSize: limits.header,
    headersTimeout: Math.min(limits.headerTime, limits.requestTime),
    requestTimeout: limits.requestTime,
    keepAliveTimeout: keepAlive,
    // How often slow requests are looked for: with Node's 30 s a limit of 10 s would be one of 40.
    connectionsCheckingInterval: Math.min(1_000, limits.headerTime),
    noDelay: true,
  });
  server.maxConnections = limits.connections;
  server.on("connection", (socket: Socket) => {
    const connection: Connection = { open: 0, aborts: new Set() };
    connections.set(socket, connection);
    socket.once("close", () => {
      connections.delete(socket);
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
    url: `http://${name.includes(":") ? `[${name}]` : name}:${port}`,
    close: (graceMs) =>
      new Promise((resolve) => {
        closing = true;
        const cut = setTimeout(() => server.closeAllConnections(), graceMs);
        server.close(() => {
          clearTimeout(cut);
          resolve();
        });
        // Node counts a connection that never sent a request as busy; browsers open such ones ahead of need.
        for (const [socket, connection] of connections) if (connection.open === 0) socket.destroy();
      }),
  };
}

async function bind(server: Server, { host, port }: ListenOptions): Promise<AddressInfo> {
  await new Promise<void>((resolve, reject) => {
    server.once("error", (error: NodeJS.ErrnoException) => reject(listenError(error, host, port)));
    server.listen({ host: host === "" ? undefined : host, port }, resolve);
  });
  server.removeAllListeners("error");
  return server.address() as AddressInfo;
}

function listenError(error: NodeJS.ErrnoException, host: string, port: number): Error {
  const url = `http://${host.includes(":") ? `[${host}]` : host}:${port}`;
  const reasons: Record<string, string> = {
    EADDRINUSE: `port ${port} is taken by another process. Stop that one, or give another port in 'url'`,
    EADDRNOTAVAIL: `${host} is no address of this machine. Give one that is in 'url'`,
    EACCES: `this user may not open port ${port}. Give one from 1024 up in 'url'`,
    ENOTFOUND: `the host name ${host} is not known. Correct it in 'url'`,
  };
  return new Error(`Can't listen at ${url}: ${reasons[error.code ?? ""] ?? error.message}`, { cause: error });
}

class NodeRequest implements HttpRequest {
  readonly method: string;
  readonly target: string;
  readonly headers: HttpRequest["headers"];
  readonly #message: IncomingMessage;
  readonly #connection: Connection | undefined;
  readonly #sayContinue: (() => void) | undefined;
  #body: Promise<Uint8Array> | undefined;
  #controller: AbortController | undefined;
  readonly #abort = (): void => this.#controller?.abort(new Error("The caller went away"));

  constructor(message: IncomingMessage, connection: Connection | undefined, sayContinue: (() => void) | undefined) {
    this.method = message.method ?? "GET";
    this.target = message.url ?? "/";
    this.headers = message.headers;
    this.#message = message;
    this.#connection = connection;
    this.#sayContinue = sayContinue;
  }

  // Made when first read: 2 µs that most requests never need.
  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController();
      if (this.#message.socket.destroyed) this.#abort();
      else this.#connection?.aborts.add(this.#abort);
    }
    return this.#controller.signal;
  }

  /** After the answer nobody is told that the caller went away. */
  finished(): void {
    this.#connection?.aborts.delete(this.#abort);
  }

  readBody(limit: number): Promise<Uint8Array> {
    return (this.#body ??= this.#collect(limit));
  }

  #collect(limit: number): Promise<Uint8Array> {
    const message = this.#message;
    const tooLarge = (): PayloadTooLarge => new PayloadTooLarge(`The request's body is over the limit of ${limit} bytes`);
    if (Number(message.headers["content-length"] ?? 0) > limit) return Promise.reject(tooLarge());
    // No event would come any more.
    if (message.destroyed) return Promise.reject(gone());
    this.#sayContinue?.();
    return new Promise((resolve, reject) => {
      const chunks: Buffer[] = [];
      let size = 0;
      const onData = (chunk: Buffer): void => {
        size += chunk.length;
        if (size > limit) {
          message.off("data", onData);
          chunks.length = 0;
          reject(tooLarge());
        } else chunks.push(chunk);
      };
      message.on("data", onData);
      message.once("end", () => resolve(chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks)));
      // The caller is gone, so nobody reads this; the listener also keeps Node from treating it as unhandled.
      message.on("error", () => reject(gone()));
    });
  }
}

function gone(): BadRequest {
  return new BadRequest("The request ended before its body did");
}

async function write(message: IncomingMessage, response: ServerResponse, answer: HttpResponse, closing: boolean): Promise<void> {
  const { body } = answer;
  const fields: Record<string, string | readonly string[] | number> = { ...answer.headers };
  const streamed = body !== undefined && typeof body !== "string" && !(body instanceof Uint8Array);
  const bodiless = answer.status === 204 || answer.status === 304;
  if (!streamed && !bodiless && !("content-length" in fields))
    fields["content-length"] = body === undefined ? 0 : typeof body === "string" ? Buffer.byteLength(body) : body.byteLength;
  // Nobody reads the rest of this request: a short one Node drops as it comes, with a long one the connection ends.
  const unread = !message.complete && (message.headers["expect"] !== undefined || !(Number(message.headers["content-length"]) <= dropped));
  if (closing || unread) fields["connection"] = "close";
  response.writeHead(answer.status, fields as Record<string, string | string[] | number>);
  if (streamed) {
    const stream = body instanceof Readable ? body : Readable.from(body);
    if (message.method === "HEAD" || bodiless) {
      stream.destroy();
      response.end();
    } else await pipeline(stream, response).catch((fault: unknown) => abandon(response, fault));
  } else if (unread && message.method !== "HEAD") {
    if (body !== undefined) response.write(body);
    else response.flushHeaders();
    await lingered(message);
    response.end();
  } else response.end(message.method === "HEAD" ? undefined : body);
}

// A caller that went away is no fault; a stream that broke is, and the only way to say so after the headers is to cut.
function abandon(response: ServerResponse, fault: unknown): void {
  const callerLeft = response.destroyed && (fault as NodeJS.ErrnoException).code === "ERR_STREAM_PREMATURE_CLOSE";
  response.destroy();
  if (!callerLeft) throw fault;
}

/**
 * Takes in and drops what still comes of the body, for a while. Closing at once would make the kernel reset the connection,
 * and the caller, still sending, would never see the answer (RFC 9112 §9.6).
 */
function lingered(message: IncomingMessage): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, lingerTime);
    message.once("close", () => {
      clearTimeout(timer);
      resolve();
    });
    message.on("error", () => resolve());
    message.resume();
  });
}
