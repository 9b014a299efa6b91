// Interfaces that a host (Node, a browser, a test) implements for the core, which uses nothing else of its
// platform.

import type { Context } from "./context.ts";
import type { HeldFor, Holding } from "./ports/held.ts";
import type { LinkHost } from "./ports/links.ts";
import type { LogFields, MeasuredRole, RequestNotes } from "./ports/telemetry.ts";
import type { Manifest } from "./manifest.ts";
import type { ApplicationTypes } from "./parameter-types.ts";
import type { AbortNotice } from "./ports/aborts.ts";

export type { AbortListener, AbortNotice } from "./ports/aborts.ts";
export type { HeldFor, Holding } from "./ports/held.ts";

/** Header fields as in Node: lower-case names, and a list only for `set-cookie`. */
export type HeaderFields = Readonly<Record<string, string | readonly string[] | undefined>>;

/** A request as a role sees it: plain, because a Web `Request` costs 41 µs a call on Node. */
export interface HttpRequest {
  readonly method: string;
  /**
   * Path and query as they came: `/rpc/shop/quote?sku=1`. The role takes the application's base
   * off.
   */
  target: string;
  /** The scheme of the connection to this service. The caller may have used https to a reverse proxy in front. */
  readonly scheme: "http" | "https";
  /** The address of the connection's other end, if there is a connection. */
  readonly address?: string | undefined;
  readonly headers: HeaderFields;
  /**
   * The body while it arrives. It can be read once, here or with {@link HttpRequest.readBody}. The sender waits
   * until it is read.
   */
  readonly body: AsyncIterable<Uint8Array>;
  /** Reads the whole body. Rejects with `PayloadTooLarge` if it has more than `limit` bytes. */
  readBody(limit: number): Uint8Array | Promise<Uint8Array>;
  /**
   * The most milliseconds for which it may have waited unread, if this host stood still; otherwise 0 or missing.
   * The host sets it.
   */
  waitedMs?: number;
  /** The body is being read and hasn't arrived completely. */
  readonly isReceiving?: boolean;
  /** Aborted if the caller goes away before the answer is written. Created on first use. */
  readonly signal: AbortSignal;
  /** The same, where a host can have it for less than a signal costs. */
  readonly departure?: AbortNotice | undefined;
  /** `false` if the sender can't take cookies with the answer, as over the link of a page. */
  readonly cookiesAreSent?: false | undefined;
  /** The way back to the sender, if the request came over a link. */
  readonly via?: LinkedPeer | undefined;
  /** The request's sender, if it came over a link. Then headers can't claim anything about it. */
  readonly from?: CallFrom | undefined;
  /**
   * Ends the request with an error. The code that answers the request sets it; a host that stops, and can't wait
   * any longer, calls it after it has aborted the signal.
   */
  onCut?: ((reason: Error) => void) | undefined;
  /** Notes about this request. Missing if the service keeps none. */
  notes?: RequestNotes | undefined;
}

/**
 * The sender of a request over a link: `outside` for callers from outside, `trusted` for those of them who have
 * shown the trust key, `service` for the deployment's procedures, `key` for the service itself.
 */
export type CallFrom = "outside" | "trusted" | "service" | "key";

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
  /**
   * A stream is read while it is sent, so the request can't be sent again. A page's `fetch` takes no
   * stream, and streams the files that a Blob is made of.
   */
  readonly body?: string | Uint8Array | Blob | AsyncIterable<Uint8Array>;
  /** Ends the request, also while bodies are on their way. Nothing else limits its time. */
  readonly signal?: AbortNotice | undefined;
  /**
   * The sender, for requests between services [outside]. It isn't a header field: over a link, the kind of frame
   * carries it.
   */
  readonly from?: CallFrom | undefined;
  /** A request between services that isn't a call (health, joining, manifest): it never waits behind calls. */
  readonly control?: true;
}

/**
 * The body of an answer while it arrives. It can be read once: by iterating, which makes the sender
 * wait for the reader, or all at once. Rejects with {@link TransportError} if it breaks. A reader
 * that stops early, or the request's signal, ends the request.
 */
export interface ByteStream extends AsyncIterable<Uint8Array> {
  /** The whole body. */
  bytes(): Promise<Uint8Array>;
}

/** An answer whose head has arrived. */
export interface PeerResponse {
  readonly status: number;
  readonly headers: HeaderFields;
  /** Bytes if all of them came with the head. */
  readonly body: Uint8Array | ByteStream;
}

/** An answer with its whole body. */
export interface IncomingResponse extends PeerResponse {
  readonly body: Uint8Array;
}

/**
 * Thrown by a {@link Peer} that got no answer. Only a request that wasn't sent may be retried.
 */
export class TransportError extends Error {
  override readonly name: string = "TransportError";
  readonly sent: boolean;
  constructor(message: string, sent: boolean, options?: ErrorOptions) {
    super(message, options);
    this.sent = sent;
  }
}

/**
 * The reason why a request wasn't sent:
 * - `refused`: it can't be reached, or doesn't take the request;
 * - `local`: this host had no connection for it, which says nothing about the other side.
 */
export type Unsent = "refused" | "local";

/** A {@link TransportError} of a request that wasn't sent, with the reason. */
export class UnsentError extends TransportError {
  readonly unsent: Unsent;
  constructor(message: string, unsent: Unsent, options?: ErrorOptions) {
    super(message, false, options);
    this.unsent = unsent;
  }
}

/**
 * The reason why a request wasn't sent, `refused` if its transport doesn't know more; `undefined`
 * for any other error.
 */
export function unsentOf(thrown: unknown): Unsent | undefined {
  if (thrown instanceof UnsentError) return thrown.unsent;
  return thrown instanceof TransportError && !thrown.sent ? "refused" : undefined;
}

/** Whether this host itself is the reason why a request wasn't sent. */
export function isLocalFailure(thrown: unknown): boolean {
  return unsentOf(thrown) === "local";
}

/**
 * Sends requests to other services. A request has one of three outcomes:
 * - it wasn't sent: `send` rejects with an {@link UnsentError};
 * - it was sent, and no answer came: `send` rejects with a {@link TransportError};
 * - it was answered, with any status: `send` resolves as soon as the answer's head is there.
 *
 * `send` may also reject with the signal's reason, or with the error of the request's own stream. A request whose
 * time runs out before it is sent counts as not sent.
 */
export interface Peer {
  /** Whether the other end takes one more call now. Missing if that isn't known before its answer. */
  readonly hasRoom?: boolean;
  send(request: OutgoingRequest): Promise<PeerResponse>;
}

/** A {@link Peer} over a link. */
export interface LinkedPeer extends Peer {
  /** The address of the service at the other end is known now: errors use it. */
  isAt(address: string): void;
  /** The process there: another one after each start. */
  readonly instance: string;
  readonly hasRoom: boolean;
  /** Calls are in flight, and nothing has come for 600 ms. */
  readonly isSilent: boolean;
  /**
   * Ends the link once the calls in flight are over, and tells the other end at once, so that the dialer dials
   * again.
   */
  retire(reason: Error): void;
}

/** Resolves host names as this host's sockets do. */
export interface Names {
  /** All addresses of `host`, which may itself be one. Rejects if there are none. */
  resolve(host: string): Promise<readonly string[]>;
}

/** Time that doesn't depend on the wall clock. A port, so that tests don't sleep. */
export interface Clock {
  /** Monotonic milliseconds. */
  now(): number;
  /**
   * Calls `run` once after `ms` (0 or more); the returned function cancels it. Doesn't keep the
   * process alive.
   */
  after(ms: number, run: () => void): () => void;
}

/** Carries the context of the running call to the calls inside it, if the platform can (Node). */
export interface ContextCarrier {
  run<T>(context: Context, act: () => T): T;
  current(): Context | undefined;
  /** Returns a function that runs code as if it were called here: also in the contexts of others. */
  snapshot(): <T>(act: () => T) => T;
}

/** A module's namespace object. */
export type ModuleNamespace = Readonly<Record<string, unknown>>;

/**
 * Thrown by a {@link ModuleLoader} that can't fetch modules. Errors of a module itself pass as is.
 */
export class ModulesUnavailable extends Error {
  override readonly name: string = "ModulesUnavailable";
}

/** Loads the application's modules for a node. */
export interface ModuleLoader {
  /** The manifest of the revision that {@link ModuleLoader.import} reads. */
  manifest(): Promise<Manifest>;
  /** Imports a file of the manifest (a key of `files`). */
  import(file: string): Promise<ModuleNamespace>;
}

/** Lines for the operators of a service: on a terminal, or for a program that collects them. */
export interface Log {
  info(line: string, about?: LogFields): void;
  warn(line: string, about?: LogFields): void;
  /** `cause` and its stack go to the log, never to a caller. */
  error(line: string, cause?: unknown, about?: LogFields): void;
}

/** Records the requests and calls of a service. */
export interface Telemetry {
  /** Called once by the role, when it is created. */
  attach(role: MeasuredRole): void;
  /** Runs `answer`, and records its outcome if there is an answer. */
  request<Answer extends HttpResponse | undefined>(
    request: HttpRequest,
    answer: (request: HttpRequest) => Promise<Answer>,
  ): Promise<Answer>;
}

/** Limits the memory that callers make this service hold. */
export interface MemoryBudget {
  /** Whether a new call may begin. */
  hasRoom(): boolean;
  /**
   * Whether an answer of this many bytes may wait for its caller. It is counted from now until the current turn is
   * over (such as the calls that one event has begun): by then, the sender has counted it.
   */
  fitsAnswer(bytes: number): boolean;
  /** Counts memory that is held for `of`, which is cut when memory is short and its reader has stalled. */
  holding?(of: HeldFor): Holding;
}

/** The delay with which a host runs its callbacks. */
export interface EventLoop {
  watch(): void;
  unwatch(): void;
  /** Nine of ten delays since the last call were at most this many milliseconds. 0 if not watched. */
  delay(): number;
  /**
   * Whether calls computed so much within the last second that many may wait unread; only known while the loop is
   * watched. Asked for each call, and counts these.
   */
  isBusy(): boolean;
  /** Calls `next` once the data that has arrived meanwhile is read, after other callbacks for the same turn. */
  turn(next: () => void): void;
}

export interface Host {
  /** Lasting connections to other services. */
  readonly links: LinkHost<(request: HttpRequest) => Promise<HttpResponse>, Peer["send"]>;
  readonly names: Names;
  readonly memory: MemoryBudget;
  readonly clock: Clock;
  readonly loop: EventLoop;
  readonly carrier: ContextCarrier;
  readonly log: Log;
  /** Records requests. Missing if the service keeps no records. */
  readonly telemetry?: Telemetry | undefined;
  /** Compares secrets in constant time. */
  equalSecrets(left: string, right: string): boolean;
  /** HMAC-SHA-256 of `text` with `secret`, in base64url. */
  sign(secret: string, text: string): string;
  /** A secret for one purpose, made of another one: HKDF-SHA-256, in base64url. */
  deriveKey(secret: string, purpose: string): string;
  /** SHA-256 of `bytes`, in lower-case hex. */
  digest(bytes: Uint8Array): string;
  /**
   * Reads the module with the types of parameters. Rejects if this version can't use it. Missing where no
   * arguments are checked.
   */
  openTypes?(module: ModuleNamespace): Promise<ApplicationTypes>;
}
