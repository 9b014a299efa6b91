// A stream whose caller may leave: then its signal aborts first, and its generator returns after that.

import type { Abort } from "../base/aborts.ts";
import type { Context } from "../base/context.ts";
import type { AbortNotice, ContextCarrier } from "../base/ports.ts";
import type { BindParts } from "./call-options.ts";
import type { Stream } from "./stream.ts";

/** The source of a stream's items. */
export interface StreamSource {
  next(): Promise<IteratorResult<unknown, unknown>>;
  /** Ends it early. The stream doesn't wait for that. */
  return(): Promise<unknown>;
}

export interface BoundStreamParts {
  /** Makes the source, at the first `next()`. */
  readonly open: () => StreamSource | Promise<StreamSource>;
  /** Aborted when the stream is ended early, before its source returns. */
  readonly abort: Pick<Abort, "abort">;
  /** The caller, whose leaving ends the stream with an error. */
  readonly caller?: AbortNotice | undefined;
  /** Called once, with the error if the source has failed or the caller has left. */
  readonly onEnd?: ((failure?: { readonly error: unknown }) => void) | undefined;
}

interface Asked {
  readonly resolve: (result: IteratorResult<unknown, unknown>) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * A generator whose steps all run in the async context of its call, including that of middleware, tracers and
 * transactions. `onClosed` is called once its code has ended.
 */
export function stepsOf(
  carrier: ContextCarrier,
  context: Context,
  start: () => Stream,
  onClosed: () => void = () => {},
): StreamSource {
  const steps = (): { generator: Stream; resume: ReturnType<ContextCarrier["snapshot"]> } => ({
    generator: start(),
    resume: carrier.snapshot(),
  });
  const { generator, resume } = carrier.run(context, steps);
  let isFirst = true;
  const step = (name: "next" | "return"): Promise<IteratorResult<unknown, unknown>> =>
    generator[name](undefined).then(
      (result) => {
        if (result.done === true) onClosed();
        return result;
      },
      (thrown: unknown) => {
        onClosed();
        throw thrown;
      },
    );
  return {
    next() {
      if (!isFirst) return resume(() => step("next"));
      isFirst = false;
      // The procedure begins, and may ask for its context.
      return carrier.run(context, () => resume(() => step("next")));
    },
    return: () => resume(() => step("return")),
  };
}

/** A stream that was called with options. */
export function bindStream(parts: BindParts): BoundStream {
  const { carrier, context, stream, abort, onFirst, onEnd } = parts;
  return new BoundStream({
    abort: { abort: (reason) => abort.abort(reason) },
    caller: abort,
    onEnd,
    open() {
      const source = stepsOf(carrier, context, () => stream);
      const next = (): ReturnType<StreamSource["next"]> => source.next().finally(onFirst);
      return { next, return: () => source.return() };
    },
  });
}

// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what every async generator inherits: `asyncDispose` where the platform has it
const ofGenerators = Object.getPrototypeOf(async function* () {}).prototype as object;

export class BoundStream implements StreamSource, Stream {
  readonly #parts: BoundStreamParts;
  #source: StreamSource | Promise<StreamSource> | undefined;
  /** The `next()` that waits for its item. */
  #asked: Asked | undefined;
  /** Calls of `next()` that came while it waited, which generators allow. */
  #queue: Promise<unknown> | undefined;
  #isOver = false;
  /** It has ended with an error that hasn't been thrown yet. */
  #failure: { readonly error: unknown } | undefined;
  #isRead = false;

  static {
    Object.setPrototypeOf(this.prototype, ofGenerators);
  }

  constructor(parts: BoundStreamParts) {
    this.#parts = parts;
    const { caller } = parts;
    // A stream that begins after its caller has left is part of a clean-up.
    if (caller?.aborted === false) caller.addEventListener("abort", this);
  }

  [Symbol.asyncIterator](): this {
    if (this.#isRead)
      throw new TypeError("A stream can be read once: call the procedure again for another");
    this.#isRead = true;
    return this;
  }

  next(): Promise<IteratorResult<unknown, unknown>> {
    if (this.#queue === undefined && this.#asked === undefined) return this.#next();
    const result = (this.#queue ?? Promise.resolve()).then(() => this.#next());
    const settled = result.catch(() => {});
    this.#queue = settled;
    void settled.then(() => {
      if (this.#queue === settled) this.#queue = undefined;
    });
    return result;
  }

  /** The reader leaves, as by `break`. */
  return(value?: unknown): Promise<IteratorResult<unknown, unknown>> {
    this.end(new DOMException("The reader of the stream has left", "AbortError"));
    return Promise.resolve({ done: true, value });
  }

  throw(error: unknown): Promise<never> {
    this.end(error);
    return Promise.reject(error);
  }

  /** The caller leaves. @internal */
  handleEvent(): void {
    this.#left();
  }

  /** Ends it, if it isn't over. A `next()` that waits resolves without an item, or rejects with `failure`. */
  end(reason: unknown, failure?: { readonly error: unknown }): void {
    if (this.#isOver) return;
    const asked = this.#asked;
    this.#finish(failure);
    this.#parts.abort.abort(reason);
    const source = this.#source;
    // The source may be waiting for something that the abort has just ended, so it may fail: that error is
    // expected.
    if (source !== undefined)
      void Promise.resolve(source)
        .then((opened) => opened.return())
        .catch(() => {});
    if (asked === undefined) this.#failure = failure;
    else if (failure === undefined) asked.resolve({ done: true, value: undefined });
    else asked.reject(failure.error);
  }

  #left(): void {
    const error: unknown = this.#parts.caller?.reason;
    this.end(error, { error });
  }

  #finish(failure?: { readonly error: unknown }): void {
    this.#isOver = true;
    this.#asked = undefined;
    this.#parts.caller?.removeEventListener("abort", this);
    this.#parts.onEnd?.(failure);
  }

  #next(): Promise<IteratorResult<unknown, unknown>> {
    if (this.#isOver) {
      const failure = this.#failure;
      this.#failure = undefined;
      return failure === undefined
        ? Promise.resolve({ done: true, value: undefined })
        : Promise.reject(failure.error);
    }
    return new Promise((resolve, reject) => {
      const asked = (this.#asked = { resolve, reject });
      const fail = (error: unknown): void => {
        if (this.#asked !== asked) return;
        this.#finish({ error });
        reject(error);
      };
      const take = (result: IteratorResult<unknown, unknown>): void => {
        if (this.#asked !== asked) return;
        this.#asked = undefined;
        if (result.done === true) this.#finish();
        resolve(result);
      };
      try {
        const source = (this.#source ??= this.#parts.open());
        if (source instanceof Promise)
          source
            .then((opened) => {
              this.#source = opened;
              return opened.next();
            })
            .then(take, fail);
        else source.next().then(take, fail);
      } catch (thrown) {
        fail(thrown);
      }
    });
  }
}
