// What a host (Node, a browser, a test) lends to the core. The core calls no other thing of its surroundings.

import type { Context } from "./context.ts";
import type { Manifest } from "./manifest.ts";

/** Header fields as Node gives them: lower-case names; a list only for `set-cookie`. */
export type HeaderFields = Readonly<Record<string, string | readonly string[] | undefined>>;

/** A request as a role sees it: plain, because a Web `Request` costs 41 µs a call on Node. */
export interface HttpRequest {
  readonly method: string;
  /** Path and query as they came: `/rpc/shop/quote?sku=1`. */
  readonly target: string;
  readonly headers: HeaderFields;
  /** The whole body. Rejects with `PayloadTooLarge` when it holds more than `limit` bytes. */
  readBody(limit: number): Promise<Uint8Array>;
  /** Aborted when the caller goes away before the answer is written. Made when first read. */
  readonly signal: AbortSignal;
}

export interface HttpResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
  readonly body?: string | Uint8Array | AsyncIterable<Uint8Array>;
}

/** A request that this service sends to another. */
export interface OutgoingRequest {
  /** Absolute. */
  readonly url: string;
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
  readonly signal?: AbortSignal;
}

export interface IncomingResponse {
  readonly status: number;
  readonly headers: HeaderFields;
  readonly body: Uint8Array;
}

/** Thrown by a {@link Transport} that got no answer. The two cases must be told apart: only what was not sent may be sent again. */
export class TransportError extends Error {
  override readonly name: string = "TransportError";
  readonly sent: boolean;
  constructor(message: string, sent: boolean, options?: ErrorOptions) {
    super(message, options);
    this.sent = sent;
  }
}

/** Sends a request and collects the answer. Rejects with {@link TransportError}, or with the signal's reason. */
export interface Transport {
  send(request: OutgoingRequest): Promise<IncomingResponse>;
  close(): Promise<void>;
}

/** Time that no wall clock moves. A port, so that no test sleeps. */
export interface Clock {
  /** Monotonic milliseconds. */
  now(): number;
  /** Calls `run` once after `ms`, which is 0 or more; the returned function cancels it. Does not keep the process alive. */
  after(ms: number, run: () => void): () => void;
}

/** Carries the context of the running call to the calls made inside it, where the platform can (Node). */
export interface ContextCarrier {
  run<T>(context: Context, act: () => T): T;
  current(): Context | undefined;
}

/** A module's namespace object. */
export type ModuleNamespace = Readonly<Record<string, unknown>>;

/** Where a node gets the application's modules from. */
export interface ModuleLoader {
  /** The manifest of the revision that {@link ModuleLoader.import} reads. */
  manifest(): Promise<Manifest>;
  /** Imports one file of the manifest (a key of `files`). */
  import(file: string): Promise<ModuleNamespace>;
}

/** Lines for the person at the terminal. */
export interface Log {
  info(line: string): void;
  warn(line: string): void;
  /** `cause` goes with its stack to the log, never to a caller. */
  error(line: string, cause?: unknown): void;
}

export interface Host {
  readonly transport: Transport;
  readonly clock: Clock;
  readonly carrier: ContextCarrier;
  readonly log: Log;
  /** Constant-time comparison of secrets. */
  equalSecrets(one: string, other: string): boolean;
}
