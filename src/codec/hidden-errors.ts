// The errors that an answer hides: it has an id in their place, under which the log has them.

import { BadGateway, InvalidSerializedValue, ValueNotSerializable } from "../base/errors.ts";
import {
  idOfInternal,
  internal,
  isInternal,
  noteInternal,
  publicMessage,
} from "./values/public-message.ts";

const hiddenMessage = /^Internal error \(([0-9a-f]{16})\)$/;

// Applications can make circles of causes, and chains of any length.
const maxQuotes = 8;
const maxSearched = 1_000;

// Stand where an error is expected and something else is.
const covers = new WeakSet<Error>();

/**
 * Notes an error in the answer of a service that had to mask. The masked errors in it keep
 * their id.
 */
export function noteMaskedAnswer(answered: unknown): void {
  for (const error of withCauses(answered)) {
    if (!(error instanceof Error)) continue;
    const id = hiddenMessage.exec(error.message)?.[1];
    if (id !== undefined) noteInternal(error, id);
  }
}

/**
 * The errors that one answer hides. The id is the answer's and not the error's: an application may throw one error
 * object any number of times.
 */
export class HiddenErrors {
  readonly #hidden = new Set<unknown>();
  readonly #hides: ((error: Error) => boolean) | undefined;
  #id: string | undefined;

  /** `hides` says which errors are hidden besides those of the system. */
  constructor(hides?: (error: Error) => boolean) {
    this.#hides = hides;
  }

  /** The message in place of hidden errors: one for the whole answer. */
  get text(): string {
    return `${internal} (${(this.#id ??= randomId())})`;
  }

  /** Whether the answer hides something that no other service has logged. */
  get some(): boolean {
    return this.#hidden.size > 0;
  }

  /** The hidden errors, except those that `error` leads to by its causes. */
  beside(error: unknown): readonly unknown[] {
    const reached = withCauses(error);
    return [...this.#hidden].filter((hidden) => !reached.has(hidden));
  }

  /** The message for the caller. */
  messageOf(error: Error, quotes = 0): string {
    if (this.#isHidden(error)) return this.hide(error);
    const message = publicMessage(error);
    // The runtime quotes the application's error, and has it as the cause.
    if (error.cause === undefined || !isQuote(error)) return message;
    if (quotes === maxQuotes) return this.hide(error);
    const cause = this.#hides === undefined ? error.cause : this.cover(error.cause);
    if (!(cause instanceof Error)) return message;
    const quoted = this.messageOf(cause, quotes + 1);
    if (!this.#isHidden(cause) && quoted === publicMessage(cause)) return message;
    const end = message.indexOf(": ");
    return end < 0 ? quoted : `${message.slice(0, end)}: ${quoted}`;
  }

  /** The text that stands for `value`, which is logged unless another service has done so. */
  hide(value: unknown): string {
    const id = value instanceof Error ? idOfInternal(value) : undefined;
    if (id !== undefined) return `${internal} (${id})`;
    // A stand-in of an error inherits from it.
    const isStandIn = value instanceof Error && this.#hidden.has(Object.getPrototypeOf(value));
    if (!isStandIn && !(value instanceof Error && covers.has(value))) this.#hidden.add(value);
    return this.text;
  }

  /** The id under which the log has `error`, for the services that pass it on. */
  idOf(error: Error): string {
    return hiddenMessage.exec(this.hide(error))![1]!;
  }

  /** Hides a value that isn't an error, in a place where one is expected. */
  cover(value: unknown): unknown {
    if (value === undefined || value instanceof Error) return value;
    this.hide(value);
    const cover = new Error();
    covers.add(cover);
    return cover;
  }

  #isHidden(error: Error): boolean {
    return this.#hides?.(error) === true || isInternal(error);
  }
}

function randomId(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(8));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** Whether the message may end with the text of the cause. */
function isQuote(error: Error): boolean {
  return (
    error instanceof ValueNotSerializable ||
    error instanceof InvalidSerializedValue ||
    (error instanceof BadGateway && error.cause instanceof InvalidSerializedValue)
  );
}

/** An error with its causes, and the entries of those that are an AggregateError. */
export function withCauses(thrown: unknown): Set<unknown> {
  const found = new Set([thrown]);
  for (const value of found) {
    if (found.size > maxSearched) break;
    try {
      if (!(value instanceof Error)) continue;
      if (value.cause !== undefined) found.add(value.cause);
      if (value instanceof AggregateError && Array.isArray(value.errors))
        for (const entry of value.errors.slice(0, maxSearched) as unknown[]) found.add(entry);
    } catch {
      // A getter of the application threw.
    }
  }
  return found;
}
