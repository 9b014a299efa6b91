// Middleware: a fold over Invoke, so the middleware added last runs first.

import type { Args, Call, CallHeaders, Invoke } from "../base/call.ts";
import { MiddlewareNotCompleted } from "../base/errors.ts";
import type { HttpResponse, Log } from "../base/ports.ts";
import { isServiceHeader, policyHeader } from "../base/protocol.ts";
import { checkedHeader } from "./header-field.ts";
import { noteApplicationError } from "./refusals.ts";
import type { Version } from "../base/version.ts";

/** Runs around every incoming call. It must call `next`, and return the result, changed or not. */
export interface Middleware {
  handle(
    fqn: string,
    version: Version,
    args: Args,
    headers: CallHeaders,
    next: () => Promise<unknown>,
  ): Promise<unknown>;
}

/**
 * Headers for middleware: those of the request. Headers set after `next` has settled go out with
 * the response. Names may be in any case. Throws TypeError for an invalid name or value.
 */
export class MiddlewareHeaders extends Map<string, string> {
  readonly #response: Map<string, readonly string[]> = new Map();
  #answered = false;

  /** Adds a header of the request, which was checked when it arrived. */
  fill(name: string, value: string): void {
    super.set(name, value);
  }

  answered(): void {
    this.#answered = true;
  }

  /**
   * The headers set after `next`, to replace those of a response; `undefined` if there are none.
   * Cookies and policies are added to the response's own.
   */
  over(response: HttpResponse["headers"]): Record<string, string | readonly string[]> | undefined {
    if (this.#response.size === 0) return undefined;
    const fields: Record<string, string | readonly string[]> = {};
    for (const [name, values] of this.#response)
      fields[name] =
        name === cookie || name === policyHeader
          ? [...listOf(response[name]), ...values]
          : (values[0] ?? "");
    return fields;
  }

  override get(name: string): string | undefined {
    return super.get(name.toLowerCase());
  }

  override has(name: string): boolean {
    return super.has(name.toLowerCase());
  }

  override set(name: string, value: string): this {
    const key = checkedHeader(name, value);
    if (this.#answered) {
      if (messageHeaders.has(key) || isServiceHeader(key))
        throw new TypeError(
          `A middleware can't set the response header '${key}': the service sets it`,
        );
      // Cookies add up: each one is a header of its own.
      this.#response.set(
        key,
        key === cookie ? [...(this.#response.get(key) ?? []), value] : [value],
      );
    }
    return super.set(key, value);
  }

  override delete(name: string): boolean {
    const key = name.toLowerCase();
    this.#response.delete(key);
    return super.delete(key);
  }

  override clear(): void {
    this.#response.clear();
    super.clear();
  }
}

// A policy is added beside that of the answer: browsers apply all, so it can only forbid more.
const cookie = "set-cookie";

// They depend on the body and the connection.
const messageHeaders = new Set([
  "connection",
  "content-encoding",
  "content-length",
  "keep-alive",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
]);

function listOf(field: string | readonly string[] | undefined): readonly string[] {
  return field === undefined ? [] : typeof field === "string" ? [field] : field;
}

const parameters = "(fqn, version, args, headers, next)";

/**
 * Describes what is wrong with the parameters of a middleware's `handle`. Another framework's
 * `(context, next)` would take `version` for `next`. Accepts all that may take five arguments: rest
 * parameters, defaults (which `length` doesn't count), `arguments`; and no parameters at all, as in
 * a middleware that always throws.
 */
export function signatureProblem({ handle }: Middleware): string | undefined {
  if (handle.length === 0 || handle.length === 5) return undefined;
  const text = Function.prototype.toString.call(handle);
  const list = parameterList(text);
  if (list === undefined || /=|\.\.\./.test(list) || /\barguments\b/.test(text)) return undefined;
  return `its handle takes (${list}), but must take ${parameters}, or a rest parameter`;
}

/**
 * The text in a function's first parentheses; `undefined` if the text is unavailable or incomplete.
 */
function parameterList(text: string): string | undefined {
  if (/\{\s*\[native code\]\s*\}\s*$/.test(text)) return undefined;
  const code = text.replace(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, " ");
  const [, bareParameter] = /^(?:async\s+)?([\w$]+)\s*=>/.exec(code) ?? [];
  if (bareParameter !== undefined) return bareParameter;
  const start = code.indexOf("(");
  let depth = 0;
  for (let at = start; at >= 0 && at < code.length; at++) {
    if ("([{".includes(code[at]!)) depth++;
    else if (")]}".includes(code[at]!) && --depth === 0)
      return code
        .slice(start + 1, at)
        .replace(/\s+/g, " ")
        .replace(/,? *$/, "")
        .trim();
  }
  return undefined;
}

/** Wraps `invoke` in the chain. Without middleware it is `invoke` itself. */
export function compose(chain: readonly Middleware[], invoke: Invoke, log: Log): Invoke {
  return chain.reduce<Invoke>(
    (next, middleware) => (call, args) => runMiddleware(middleware, call, args, next, log),
    invoke,
  );
}

/**
 * A stream, as middleware gets it from `next()` once its head is about to go out, and has to return it. Its items can't
 * be read.
 */
export class OpaqueStream {
  /** Resolves when none of its code runs any more. Never rejects. */
  readonly ended: Promise<void>;

  constructor(ended: Promise<void>) {
    this.ended = ended;
  }
}

const names = new WeakMap<Middleware, string>();

/** Sets a middleware's name in the log, unless it has one already. */
export function nameMiddleware(middleware: Middleware, name: string): void {
  if (!names.has(middleware)) names.set(middleware, name);
}

/** A middleware's own name: its property `name`, or that of its class. */
export function ownName(middleware: Middleware): string | undefined {
  const { name, constructor } = middleware as {
    name?: unknown;
    constructor?: { name?: unknown };
  };
  if (typeof name === "string" && name !== "") return name;
  return constructor !== Object && typeof constructor?.name === "string" && constructor.name !== ""
    ? constructor.name
    : undefined;
}

function nameOf(middleware: Middleware): string {
  const name = names.get(middleware) ?? ownName(middleware);
  return name === undefined ? "a middleware" : `middleware ${name}`;
}

/** Turns an error that `invoke` throws synchronously into a rejection. */
function started(invoke: Invoke, call: Call, args: Args): Promise<unknown> {
  try {
    return invoke(call, args);
  } catch (error) {
    return Promise.reject(error);
  }
}

// Not async, nor is the `next` that middleware gets: each promise of a call costs 0.1 µs.
function runMiddleware(
  middleware: Middleware,
  call: Call,
  args: Args,
  next: Invoke,
  log: Log,
): Promise<unknown> {
  // A second `next()` returns the first one's answer, so that a call never runs twice.
  let answer: Promise<unknown> | undefined;
  let settled = false;
  let ended = false;
  let failure: unknown;
  let stream: OpaqueStream | undefined;
  const answered = (value?: unknown): void => {
    settled = true;
    if (value instanceof OpaqueStream) stream = value;
    if (call.headers instanceof MiddlewareHeaders) call.headers.answered();
  };
  const pending = (): Promise<unknown> => {
    const inner = started(next, call, args);
    // Mark it as handled, in case the middleware doesn't await it: an unhandled rejection would end the process.
    inner.then(answered, (error: unknown) => {
      failure = error;
      answered();
    });
    return inner;
  };
  const late = (): Promise<unknown> => {
    log.error(
      `${nameOf(middleware)} called next() for ${call.fqn} after its handle() had ended: nothing was run`,
    );
    const refused = Promise.reject(new Error("next() was called after handle() had ended"));
    refused.catch(() => {});
    return refused;
  };
  const once = (): Promise<unknown> => (answer ??= ended ? late() : pending());
  const end = (): void => {
    ended = true;
    if (answer !== undefined && !settled)
      answer.catch((error: unknown) =>
        log.error(
          `${nameOf(middleware)} did not wait for next() of ${call.fqn}, which failed`,
          error,
        ),
      );
  };
  const returned = (result: unknown): unknown => {
    end();
    if (stream !== undefined && result !== stream) {
      const name = nameOf(middleware);
      throw new MiddlewareNotCompleted(`${name} must return the stream that next() resolves to`);
    }
    if (answer !== undefined) return result;
    log.error(`${nameOf(middleware)} did not call next() for ${call.fqn}: every middleware must`);
    throw new MiddlewareNotCompleted("A middleware did not call next");
  };
  const failed = (error: unknown): never => {
    end();
    if (error !== failure) noteApplicationError(error);
    throw error;
  };
  let handled: unknown;
  try {
    handled = middleware.handle(call.fqn, call.version, args, call.headers, once);
  } catch (error) {
    return Promise.reject(error).catch(failed);
  }
  return Promise.resolve(handled).then(returned, failed);
}
