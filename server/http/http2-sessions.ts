// Connections that speak HTTP/2, which browsers and services agree on in the TLS handshake. A connection has many
// streams, each with one request. Limits hold for each stream where HTTP/1.1 has them for a connection: a caller that
// reads one answer mustn't keep ninety-nine others in memory.

import {
  constants,
  createServer,
  type Http2Server,
  type Http2ServerRequest,
  type Http2ServerResponse,
  type ServerHttp2Session,
  type ServerHttp2Stream,
} from "node:http2";
import type { ServerResponse } from "node:http";
import type { Socket } from "node:net";

import { RequestTimeout } from "../../src/base/errors.ts";
import type { HeldFor } from "../../src/base/ports.ts";
import { wireMargin } from "../../src/wire/request-head.ts";
import { Bag } from "../host/bag.ts";
import type { HeldMemory, Holder } from "../host/held-memory.ts";
import type { CallerConnection } from "./connection/caller-connection.ts";
import {
  connectionWindowBytes,
  mostInvalidFrames,
  mostRejectedStreams,
  mostStreams,
  pseudoFields,
  streamWindowBytes,
} from "./connection/limits.ts";
import { sessionCheckMs, sessionEndMs } from "./connection/times.ts";
import type { HttpLimits, ServerRequest } from "./server-request.ts";
import { asMessage, authorityProblem, rawFieldsOf, StreamRequest } from "./http2-request.ts";

export interface SessionsParts {
  readonly limits: HttpLimits;
  readonly memory: HeldMemory;
  readonly serve: (exchange: ServerRequest) => void;
}

interface OpenStream {
  readonly stream: ServerHttp2Stream;
  readonly response: Http2ServerResponse;
  readonly message: Http2ServerRequest;
  readonly request: StreamRequest;
  readonly since: number;
}

interface OpenSession {
  readonly session: ServerHttp2Session;
  readonly socket: Socket;
  readonly owner: CallerConnection;
  readonly address: string | undefined;
  readonly streams: Set<OpenStream>;
}

export class Http2Sessions {
  readonly #parts: SessionsParts;
  readonly #server: Http2Server;
  readonly #sessions = new Map<ServerHttp2Session, OpenSession>();
  #timer: NodeJS.Timeout | undefined;

  constructor(parts: SessionsParts) {
    this.#parts = parts;
    const { headerBytes, headerCount } = parts.limits;
    // Doesn't listen: the server that makes the TLS handshake hands its connections over.
    this.#server = createServer({
      maxSessionInvalidFrames: mostInvalidFrames,
      maxSessionRejectedStreams: mostRejectedStreams,
      maxHeaderListPairs: headerCount + wireMargin.fields + pseudoFields + 1,
      settings: {
        enablePush: false,
        maxConcurrentStreams: mostStreams,
        maxHeaderListSize: headerBytes + wireMargin.bytes,
        initialWindowSize: streamWindowBytes,
      },
    });
    this.#server.on("request", (message, response) => this.#serve(message, response, false));
    this.#server.on("checkContinue", (message, response) => this.#serve(message, response, true));
  }

  /** Speaks HTTP/2 over a connection. `owner` counts its requests. */
  accept(socket: Socket, owner: CallerConnection): void {
    this.#server.once("session", (session) => this.#begin(session, socket, owner));
    this.#server.emit("connection", socket);
  }

  /** Connections take no more requests: callers open new ones, elsewhere if they can. */
  drain(): void {
    for (const session of this.#sessions.keys()) session.close();
  }

  #begin(session: ServerHttp2Session, socket: Socket, owner: CallerConnection): void {
    const streams = new Set<OpenStream>();
    const open = { session, socket, owner, address: socket.remoteAddress, streams };
    session.setLocalWindowSize(connectionWindowBytes);
    owner.end = () => session.close();
    owner.request = {
      mayTakeLong: true,
      cut(reason) {
        for (const { request } of streams) request.cut(reason);
      },
    };
    this.#sessions.set(session, open);
    this.#timer ??= setInterval(() => this.#check(), sessionCheckMs).unref();
    session.once("close", () => {
      this.#sessions.delete(session);
      if (this.#sessions.size > 0) return;
      clearInterval(this.#timer);
      this.#timer = undefined;
    });
  }

  #serve(
    message: Http2ServerRequest,
    response: Http2ServerResponse,
    awaitsContinue: boolean,
  ): void {
    const { stream } = message;
    const found = stream.session && this.#sessions.get(stream.session as ServerHttp2Session);
    if (found === undefined) return void stream.destroy();
    const { owner, streams, address } = found;
    const connection = this.#connectionOf(stream, owner);
    const request = new StreamRequest(
      message,
      connection,
      address,
      awaitsContinue ? () => response.writeContinue() : undefined,
    );
    const open = { stream, response, message, request, since: performance.now() };
    streams.add(open);
    owner.hadRequest = true;
    stream.once("close", () => {
      streams.delete(open);
      connection.holder.close();
      for (const leaver of connection.leavers.all()) leaver.leave();
    });
    // An unread rest of a body would keep its stream open.
    stream.once("finish", () => {
      if (!stream.endAfterHeaders && !message.complete) stream.close(constants.NGHTTP2_NO_ERROR);
    });
    this.#parts.serve({
      message: asMessage(message),
      response: response as unknown as ServerResponse,
      request,
      connection,
      owner,
      rawHeaders: rawFieldsOf(message),
      problem: authorityProblem(message),
    });
  }

  #connectionOf(stream: ServerHttp2Stream, owner: CallerConnection): CallerConnection {
    const { memory, limits } = this.#parts;
    const held = new HeldStream(stream);
    const holder = memory.holder(held, limits.requestTimeoutMs);
    held.holder = holder;
    return {
      open: 0,
      idleSince: owner.idleSince,
      leavers: new Bag(),
      memory,
      holder,
      isSpare: owner.isSpare,
      idleMs: limits.idleTimeoutMs,
      onFault: owner.onFault,
    };
  }

  /** Enforces the time limits that Node enforces by itself for HTTP/1.1. */
  #check(): void {
    const { requestTimeoutMs, keepAliveTimeoutMs, headerTimeoutMs } = this.#parts.limits;
    const now = performance.now();
    for (const { session, socket, owner, streams } of this.#sessions.values()) {
      for (const { message, request, response, stream, since } of streams)
        if (now - since > requestTimeoutMs && !asMessage(message).complete && !request.mayTakeLong)
          endLate(response, stream);
      if (owner.open > 0 || streams.size > 0) continue;
      const idleMs = now - owner.idleSince;
      const mostMs = owner.hadRequest === true ? keepAliveTimeoutMs : headerTimeoutMs;
      if (idleMs > mostMs) session.close();
      // The other end hasn't closed it either.
      if (idleMs > mostMs + sessionEndMs) socket.destroy();
    }
  }
}

/** Ends a request whose body isn't there in time. */
function endLate(response: Http2ServerResponse, stream: ServerHttp2Stream): void {
  if (!response.headersSent)
    response.writeHead(RequestTimeout.status, { "cache-control": "no-store" }).end();
  stream.close(constants.NGHTTP2_NO_ERROR);
}

/** Memory that is held for a stream, which is reset if its other end takes nothing. */
class HeldStream implements HeldFor {
  holder: Holder | undefined;
  readonly #stream: ServerHttp2Stream;

  constructor(stream: ServerHttp2Stream) {
    this.#stream = stream;
  }

  /** A stream counts no bytes; but each piece is counted when it arrives, and given back when it has left. */
  progress(): number {
    return (this.holder?.changes ?? 0) - this.#stream.writableLength;
  }

  isUntaken(): boolean {
    return this.#stream.writableLength > 0;
  }

  cut(): void {
    this.#stream.close(constants.NGHTTP2_CANCEL);
  }
}
