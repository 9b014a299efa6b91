// Middleware (§2.7, §4.8): a fold over Invoke, the layer added last outermost.

import type { Args, Call, CallHeaders, Invoke } from "./call.ts";
import { MiddlewareNotCompleted } from "./errors.ts";
import type { Log } from "./ports.ts";
import type { Version } from "./version.ts";

/** One layer round every call that comes in. It must call `next`, and returns the result, changed or not (§2.7). */
export interface Middleware {
  handle(fqn: string, version: Version, args: Args, headers: CallHeaders, next: () => Promise<unknown>): Promise<unknown>;
}

/**
 * Headers as middleware sees them: the request's until the procedure has answered, and what is set from then on goes
 * out with the response (decisions §5). Names are lower-case whatever is passed.
 */
export class MiddlewareHeaders extends Map<string, string> {
  // A field of a Map's subclass isn't there yet while Map's constructor fills it, so this may be undefined in `set`.
  readonly #response: Map<string, string> = new Map();
  #answered = false;

  answered(): void {
    this.#answered = true;
  }

  /** What was set after the procedure had answered. */
  get response(): ReadonlyMap<string, string> {
    return this.#response;
  }

  override get(name: string): string | undefined {
    return super.get(name.toLowerCase());
  }

  override has(name: string): boolean {
    return super.has(name.toLowerCase());
  }

  override set(name: string, value: string): this {
    const key = name.toLowerCase();
    if (#answered in this && this.#answered) this.#response.set(key, value);
    return super.set(key, value);
  }

  override delete(name: string): boolean {
    const key = name.toLowerCase();
    if (this.#answered) this.#response.delete(key);
    return super.delete(key);
  }
}

/** The chain round `invoke`. With no layer it is `invoke` itself. */
export function compose(layers: readonly Middleware[], invoke: Invoke, log: Log): Invoke {
  if (layers.length === 0) return invoke;
  const innermost: Invoke = async (call) => {
    try {
      return await invoke(call);
    } finally {
      if (call.headers instanceof MiddlewareHeaders) call.headers.answered();
    }
  };
  return layers.reduce<Invoke>((next, layer) => (call) => pass(layer, call, next, log), innermost);
}

const names = new WeakMap<Middleware, string>();

/** What the log calls a middleware that has no class of its own: the module that the configuration names. */
export function nameMiddleware(layer: Middleware, name: string): void {
  names.set(layer, name);
}

function nameOf(layer: Middleware): string {
  const given = names.get(layer) ?? (layer.constructor === Object ? undefined : layer.constructor?.name);
  return given ? `middleware ${given}` : "a middleware";
}

async function pass(layer: Middleware, call: Call, next: Invoke, log: Log): Promise<unknown> {
  // Kept, so that a second `next()` gets the first one's answer: a call never runs twice.
  let passed: Promise<unknown> | undefined;
  const result = await layer.handle(call.fqn, call.version, call.args, call.headers, () => (passed ??= next(call)));
  if (passed === undefined) {
    const name = nameOf(layer);
    log.error(`${name} did not call next() for ${call.fqn}: every middleware must (§4.8)`);
    throw new MiddlewareNotCompleted("A middleware did not call next");
  }
  return result;
}
