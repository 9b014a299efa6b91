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
  /** How it came to this service: something in front may have taken it by https. */
  readonly scheme: "http" | "https";
  readonly headers: HeaderFields;
  /** The whole body. Rejects with `PayloadTooLarge` when it holds more than `limit` bytes. */
  readBody(limit: number): Promise<Uint8Array>;
  /** The body is being read, and has not come whole. */
  readonly isReceiving?: boolean;
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
  /** Ends the request. Nothing else bounds how long an answer may take. */
  readonly signal?: AbortSignal;
  /** Keeps services together (health checks, joins, renewals, manifests): it has connections of its own, so it never waits behind calls. */
  readonly control?: true;
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

/**
 * What a request that was not sent says of the other side:
 * - `refused`: nobody takes requests there;
 * - `silent`: nobody has answered yet, which a busy service does too;
 * - `local`: nothing at all, as this host had no connection for the request.
 */
export type Unsent = "refused" | "silent" | "local";

/** A {@link TransportError} of a request that was not sent, with what that means. */
export class UnsentError extends TransportError {
  readonly unsent: Unsent;
  constructor(message: string, unsent: Unsent, options?: ErrorOptions) {
    super(message, false, options);
    this.unsent = unsent;
  }
}

/** What a request that was not sent says of the other side, `refused` where its transport knows no more; `undefined` for anything else. */
export function unsentOf(thrown: unknown): Unsent | undefined {
  if (thrown instanceof UnsentError) return thrown.unsent;
  return thrown instanceof TransportError && !thrown.sent ? "refused" : undefined;
}

/** Whether a request was not sent for a reason that is this host's own: nobody else is to be blamed for it. */
export function isLocalFailure(thrown: unknown): boolean {
  return unsentOf(thrown) === "local";
}

/** Why a connection to `address` must not be opened, when a request names `host`; `undefined` when it may be. */
export type AddressRule = (host: string, address: string) => string | undefined;

/** Sends a request and collects the answer. Rejects with {@link TransportError}, or with the signal's reason. */
export interface Transport {
  send(request: OutgoingRequest): Promise<IncomingResponse>;
  close(): Promise<void>;
  /** From now on each address that a host name resolves to is put to `rule` when a connection is opened. Without sockets there is none. */
  guard?(rule: AddressRule): void;
}

/** Host names and their addresses, as the sockets of this host see them. */
export interface Names {
  /** Every address of `host`; an address is its own. Rejects when there is none. */
  resolve(host: string): Promise<readonly string[]>;
  /** The addresses that this machine itself has. */
  own(): readonly string[];
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

/** Thrown by a {@link ModuleLoader} that can't get at the modules. What a module itself throws as it runs is thrown as it is. */
export class ModulesUnavailable extends Error {
  override readonly name: string = "ModulesUnavailable";
}

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

/** How much callers make this service hold. */
export interface MemoryBudget {
  /** Whether a new call may begin. */
  hasRoom(): boolean;
}

export interface Host {
  readonly transport: Transport;
  readonly names: Names;
  readonly memory: MemoryBudget;
  readonly clock: Clock;
  readonly carrier: ContextCarrier;
  readonly log: Log;
  /** Constant-time comparison of secrets. */
  equalSecrets(one: string, other: string): boolean;
  /** HMAC-SHA-256 of `text` under `secret`, in base64url. */
  sign(secret: string, text: string): string;
}
