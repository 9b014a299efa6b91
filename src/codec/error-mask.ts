// Hides errors from callers who aren't trusted. What an application doesn't mean for them reads
// `Internal error (id)`, and the log has the error under this id.

import {
  BadGateway,
  InvalidSerializedValue,
  ServiceError,
  ValueNotSerializable,
} from "../base/errors.ts";
import type { Classes } from "./classes.ts";
import { ClassTable, type FormWalk } from "./class-table.ts";
import { encodeErrorForm, keyOfError, knownError } from "./error-form.ts";
import type { Properties } from "./instance.ts";
import type { KnownClass } from "./values/known-class.ts";
import { internal, publicMessage, textOf } from "./values/public-message.ts";
import { walkItems, walkValue } from "./values/walk.ts";

/** Whether callers who aren't trusted see all errors, or only those that are meant for them. */
export type ErrorVisibility = "shown" | "masked";

const maskedMessage = /^Internal error \([0-9a-f]{16}\)$/;

// Applications can make circles of causes, and chains of any length.
const maxQuotes = 8;
const maxSearched = 1_000;

const maskedElsewhere = new WeakSet<Error>();

/**
 * Notes an error in the answer of a service that was told to mask. The masked errors in it keep
 * their id.
 */
export function noteMaskedAnswer(answered: unknown): void {
  for (const error of withCauses(answered))
    if (error instanceof Error && maskedMessage.test(error.message)) maskedElsewhere.add(error);
}

/**
 * The classes with which one answer's error is encoded: callers see errors of the framework and of
 * the application's exported classes, without trace lines. All others read `Internal error (id)`.
 */
export class ErrorMask extends ClassTable {
  readonly #classes: ClassTable;
  readonly #hidden = new Set<unknown>();
  #text: string | undefined;

  constructor(classes: ClassTable) {
    super();
    this.#classes = classes;
  }

  /** The message of what is hidden: one for the whole answer. */
  get text(): string {
    return (this.#text ??= `${internal} (${randomId()})`);
  }

  /** Whether the answer hides something that no other service has logged. */
  get hasHidden(): boolean {
    return this.#hidden.size > 0;
  }

  /** What is hidden, except what `error` leads to by its causes. */
  hiddenBeside(error: unknown): readonly unknown[] {
    const reached = withCauses(error);
    return [...this.#hidden].filter((hidden) => !reached.has(hidden));
  }

  /** Two classes with the same key can't be sent, so such an error is not of an exported class. */
  override of(value: object): KnownClass | undefined {
    const known = this.#classes.of(value);
    return known?.record.error && known.record.clash !== undefined ? undefined : known;
  }

  /** Loads classes that this service doesn't know yet, if `error` may be of one of them. */
  async prepare(error: Error, loadByName: Classes["loadByName"]): Promise<void> {
    if (loadByName === undefined) return;
    const names = new Set<string>();
    for (const value of withCauses(error))
      if (value instanceof Error && this.hides(value))
        for (const name of namesOfClasses(value)) names.add(name);
    try {
      if (names.size > 0) await loadByName(names);
    } catch {
      // Without the class, its errors stay hidden.
    }
  }

  /** Whether only the message `Internal error (id)` is sent of it. */
  override hides(error: Error): boolean {
    try {
      return !(error instanceof ServiceError || keyOfError(error, this) !== undefined);
    } catch {
      return true;
    }
  }

  /** The message for the caller. */
  messageOf(error: Error, quotes = 0): string {
    if (this.hides(error)) return this.#hide(error);
    const message = publicMessage(error);
    // The runtime quotes what the application threw, and has it as the cause.
    if (error.cause === undefined || !isQuote(error)) return message;
    if (quotes === maxQuotes) return this.#hide(error);
    const cause = this.#cover(error.cause) as Error;
    const quoted = this.messageOf(cause, quotes + 1);
    if (!this.hides(cause) && quoted === publicMessage(cause)) return message;
    const end = message.indexOf(": ");
    return end < 0 ? quoted : `${message.slice(0, end)}: ${quoted}`;
  }

  /** The message of an error whose own message can't be read. */
  unreadable(error: Error): string {
    return this.#hide(error);
  }

  override errorForm(error: Error, walk: FormWalk): object {
    const message = this.messageOf(error);
    if (!this.hides(error)) {
      const form = encodeErrorForm(error, walk, (cause) => this.#cover(cause));
      return this.#withoutPrivate(error, { ...form, message, trace: [] }, walk);
    }
    const form = { serialized: true, name: "Error", type: "Error", message, trace: [] };
    const cause = error.cause === undefined ? {} : { cause: this.#partOf(error.cause, walk) };
    return error instanceof AggregateError && Array.isArray(error.errors)
      ? {
          ...form,
          type: "AggregateError",
          fields: { errors: this.#entriesOf(error, walk) },
          ...cause,
        }
      : { ...form, fields: {}, ...cause };
  }

  /** A declared member may hold the cause, the entries, the stack or trace lines as well. */
  #withoutPrivate(error: Error, form: Properties, walk: FormWalk): object {
    const fields: Properties = { ...(form["fields"] as object) };
    const args = form["args"] === undefined ? undefined : { ...(form["args"] as object) };
    const known = knownError(error, this);
    const replace = (name: string, replacement: () => unknown): void => {
      const position = known?.names.indexOf(name) ?? -1;
      const holders: [unknown, string][] = [
        [fields, name],
        [args, String(position)],
      ];
      for (const [holder, key] of holders) {
        if (typeof holder !== "object" || holder === null || !Object.hasOwn(holder, key)) continue;
        const value = replacement();
        if (value === undefined) delete (holder as Properties)[key];
        else (holder as Properties)[key] = value;
      }
    };
    replace("stack", () => undefined);
    replace("trace", () => undefined);
    replace("cause", () =>
      error.cause === undefined ? undefined : this.#partOf(error.cause, walk),
    );
    if (error instanceof AggregateError) replace("errors", () => this.#entriesOf(error, walk));
    return { ...form, fields, ...(args !== undefined && { args }) };
  }

  #partOf(value: unknown, walk: FormWalk): unknown {
    return walkValue(this.#cover(value), walk);
  }

  #entriesOf(error: AggregateError, walk: FormWalk): unknown {
    return walkItems(
      Array.from(error.errors as unknown[], (entry) => this.#cover(entry)),
      walk,
    );
  }

  /** Hides what isn't an error but stands where one is expected. */
  #cover(value: unknown): unknown {
    if (value === undefined || value instanceof Error) return value;
    const cover = new Error();
    this.#hide(value);
    covers.add(cover);
    return cover;
  }

  #hide(value: unknown): string {
    const text = value instanceof Error && maskedElsewhere.has(value) ? textOf(value.message) : "";
    if (maskedMessage.test(text)) return text;
    // A stand-in of an error inherits from it.
    const original =
      value instanceof Error && this.#hidden.has(Object.getPrototypeOf(value)) ? undefined : value;
    if (original !== undefined && !(value instanceof Error && covers.has(value)))
      this.#hidden.add(original);
    return this.text;
  }
}

const covers = new WeakSet<Error>();

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

/** The names of the classes that an error is of, but for those of the platform. */
function namesOfClasses(error: Error): string[] {
  const names: string[] = [];
  let value: unknown = error;
  try {
    while ((value = Object.getPrototypeOf(value)) !== Error.prototype && value !== null) {
      const { name } = (value as Error).constructor;
      if (typeof name === "string" && name !== "" && !(name in globalThis)) names.push(name);
    }
  } catch {
    // A getter of the application threw.
  }
  return names;
}

/** An error, its causes, and their entries. */
function withCauses(thrown: unknown): Set<unknown> {
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
