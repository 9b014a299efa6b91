// Middleware (§2.7, §4.8): a fold over Invoke, the layer added last outermost.

import type { Args, Call, CallHeaders, Invoke } from "./call.ts";
import { MiddlewareNotCompleted } from "./errors.ts";
import type { HttpResponse, Log } from "./ports.ts";
import { policyHeader } from "./protocol.ts";
import { noteApplicationError } from "./refusals.ts";
import type { Version } from "./version.ts";

/** One layer round every call that comes in. It must call `next`, and returns the result, changed or not (§2.7). */
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
 * Headers as middleware sees them: the request's until `next` has come to its end, and what is set from then on goes
 * out with the response (decisions §5). Names are lower-case whatever is passed. Throws TypeError for what no header can be.
 */
export class MiddlewareHeaders extends Map<string, string> {
  readonly #response: Map<string, readonly string[]> = new Map();
  #answered = false;

  /** Headers of a request, that were checked when they came. */
  fill(name: string, value: string): void {
    super.set(name, value);
  }

  answered(): void {
    this.#answered = true;
  }

  /** What was set after `next`, to be put over the headers of a response; beside those that it may have several times. */
  over(given: HttpResponse["headers"]): Record<string, string | readonly string[]> {
    const fields: Record<string, string | readonly string[]> = {};
    for (const [name, values] of this.#response)
      fields[name] =
        name === cookie || name === policyHeader
          ? [...listOf(given[name]), ...values]
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
    const key = checked(name, value);
    if (this.#answered) {
      if (ofTheMessage.has(key) || key.startsWith("x-svc-"))
        throw new TypeError(
          `A middleware can't set the header '${key}' of a response: it is made with the answer`,
        );
      // Chosen: each cookie that is set is one more, as no other header can stand in a response several times and mean something by it.
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

// Chosen: a policy of a layer goes beside that of the answer. Browsers go by all of them, so it can forbid more, and never allows more.
const cookie = "set-cookie";

// They say where the body ends and how it is written.
const ofTheMessage = new Set([
  "connection",
  "content-encoding",
  "content-length",
  "keep-alive",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
]);

/** The lower-case name. A line break would begin another header, or the body: refused where it is set, not where it is sent. */
function checked(name: unknown, value: unknown): string {
  if (typeof name !== "string" || !/^[-!#$%&'*+.^_`|~\w]+$/.test(name))
    throw new TypeError(`${JSON.stringify(name)} can't be the name of a header`);
  if (typeof value !== "string")
    throw new TypeError(
      `The header '${name}' takes text, and was given ${value === null ? "null" : typeof value}`,
    );
  if (/[^\t\x20-\x7e\x80-\xff]/.test(value))
    throw new TypeError(
      `The value of the header '${name}' holds a character that no header can carry; encode it first`,
    );
  return name.toLowerCase();
}

function listOf(field: string | readonly string[] | undefined): readonly string[] {
  return field === undefined ? [] : typeof field === "string" ? [field] : field;
}

const parameters = "(fqn, version, args, headers, next)";

/**
 * What is wrong with the parameters of a middleware's `handle`, or `undefined`. One of another framework, `(context, next)`, would run and
 * never find its `next`. Whatever may take all five is let through: a rest parameter, defaults (which `length` doesn't count), `arguments`;
 * and one without parameters, which throws for every call.
 */
export function signatureProblem({ handle }: Middleware): string | undefined {
  if (handle.length === 0 || handle.length === 5) return undefined;
  const text = Function.prototype.toString.call(handle);
  const list = parameterList(text);
  if (list === undefined || /=|\.\.\./.test(list) || /\barguments\b/.test(text)) return undefined;
  return `its handle takes (${list}), and a middleware's takes ${parameters}, or all of them as a rest parameter`;
}

/** What stands between a function's first parentheses; `undefined` where its text isn't to be had, or ends before them. */
function parameterList(text: string): string | undefined {
  if (/\{\s*\[native code\]\s*\}\s*$/.test(text)) return undefined;
  const code = text.replace(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, " ");
  const [, only] = /^(?:async\s+)?([\w$]+)\s*=>/.exec(code) ?? [];
  if (only !== undefined) return only;
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

/** The chain round `invoke`. With no layer it is `invoke` itself. */
export function compose(layers: readonly Middleware[], invoke: Invoke, log: Log): Invoke {
  return layers.reduce<Invoke>((next, layer) => (call) => pass(layer, call, next, log), invoke);
}

const names = new WeakMap<Middleware, string>();

/** Gives a middleware its name in the log, unless it has one already. */
export function nameMiddleware(layer: Middleware, name: string): void {
  if (!names.has(layer)) names.set(layer, name);
}

/** The name that a middleware says itself: its property `name`, or that of its class. */
export function ownName(layer: Middleware): string | undefined {
  const { name, constructor } = layer as { name?: unknown; constructor?: { name?: unknown } };
  if (typeof name === "string" && name !== "") return name;
  return constructor !== Object && typeof constructor?.name === "string" && constructor.name !== ""
    ? constructor.name
    : undefined;
}

function nameOf(layer: Middleware): string {
  const name = names.get(layer) ?? ownName(layer);
  return name === undefined ? "a middleware" : `middleware ${name}`;
}

async function pass(layer: Middleware, call: Call, next: Invoke, log: Log): Promise<unknown> {
  // Kept, so that a second `next()` gets the first one's answer: a call never runs twice.
  let passed: Promise<unknown> | undefined;
  let settled = false;
  let left = false;
  let failure: unknown;
  const pending = async (): Promise<unknown> => {
    try {
      return await next(call);
    } catch (error) {
      failure = error;
      throw error;
    } finally {
      settled = true;
      if (call.headers instanceof MiddlewareHeaders) call.headers.answered();
    }
  };
  const once = (): Promise<unknown> => {
    if (passed !== undefined) return passed;
    if (left)
      log.error(
        `${nameOf(layer)} called next() for ${call.fqn} after its handle() had ended: nothing was run`,
      );
    passed = left
      ? Promise.reject(new Error("next() was called after handle() had ended"))
      : pending();
    // A layer that doesn't wait for it leaves nobody to take what fails, and that would end the process.
    passed.catch(() => {});
    return passed;
  };
  try {
    const result = await layer.handle(call.fqn, call.version, call.args, call.headers, once);
    if (passed !== undefined) return result;
  } catch (error) {
    if (error !== failure) noteApplicationError(error);
    throw error;
  } finally {
    left = true;
    const waits = passed !== undefined && !settled;
    if (waits)
      void passed?.catch((error: unknown) =>
        log.error(`${nameOf(layer)} did not wait for next() of ${call.fqn}, which failed`, error),
      );
  }
  log.error(`${nameOf(layer)} did not call next() for ${call.fqn}: every middleware must (§4.8)`);
  throw new MiddlewareNotCompleted("A middleware did not call next");
}
