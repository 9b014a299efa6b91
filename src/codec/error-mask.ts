// Hides errors from untrusted callers. An error that the application doesn't mean for them reads `Internal error
// (id)`, and the log has the error under this id.

import { ServiceError } from "../base/errors.ts";
import type { Classes } from "./classes.ts";
import { ClassTable, type FormWalk } from "./class-table.ts";
import { encodeErrorForm, keyOfError, knownError } from "./error-form.ts";
import { HiddenErrors, withCauses } from "./hidden-errors.ts";
import type { Properties } from "./instance.ts";
import type { KnownClass } from "./values/known-class.ts";
import { walkItems, walkValue } from "./values/walk.ts";

/** Whether untrusted callers see all errors, or only those that are meant for them. */
export type ErrorVisibility = "shown" | "masked";

/**
 * The classes with which one answer's error is encoded: callers see errors of the framework and of
 * the application's exported classes, without trace lines. All others read `Internal error (id)`.
 */
export class ErrorMask extends ClassTable {
  /** The errors that the answer hides. */
  readonly hidden: HiddenErrors = new HiddenErrors((error) => this.hides(error));
  readonly #classes: ClassTable;

  constructor(classes: ClassTable) {
    super();
    this.#classes = classes;
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

  override errorForm(error: Error, walk: FormWalk): object {
    const message = this.hidden.messageOf(error);
    if (!this.hides(error)) {
      const form = encodeErrorForm(error, walk, (cause) => this.hidden.cover(cause));
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
    return walkValue(this.hidden.cover(value), walk);
  }

  #entriesOf(error: AggregateError, walk: FormWalk): unknown {
    return walkItems(
      Array.from(error.errors as unknown[], (entry) => this.hidden.cover(entry)),
      walk,
    );
  }
}

/** The names of an error's classes, except those of the platform. */
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
