// A walk over a value by an encoder that knows the application's classes.

import type { ClassTable, FormWalk } from "./class-table.ts";
import type { HiddenErrors } from "./hidden-errors.ts";
import { isPolluted, type Walk } from "./values/walk.ts";

/** Options of every encoder. */
export interface WalkOptions {
  readonly classes: ClassTable;
  /** The receiver is a service, or holds the trust key: it gets all that errors carry. */
  readonly trusted?: boolean | undefined;
  /** The value is an error that was thrown, and its receiver may see its stack and whole message. */
  readonly stacks?: boolean | undefined;
  /** The call that selects the trace lines of errors. */
  readonly call?: object | undefined;
  /** Collects the errors that an answer hides [`Internal error` without an id]. */
  readonly hidden?: HiddenErrors | undefined;
  /** Suggests what to send in place of an instance that no encoding knows. */
  readonly hint?: ((value: object) => string | undefined) | undefined;
}

export function formWalk(
  { classes, trusted = false, stacks = false, call, hidden, hint }: WalkOptions,
  replace: (value: unknown, walk: FormWalk) => unknown,
  file?: FormWalk["file"],
): FormWalk {
  return {
    classes,
    trusted,
    stacks,
    call,
    hidden,
    hint,
    file,
    pending: [],
    level: 0,
    objects: 0,
    strict: true,
    polluted: isPolluted(),
    replace: replace as Walk["replace"],
  };
}
