// The faults of a call's arguments, as lines of an answer: `lines[0].metres: expected number, got text`.

import { InvalidParameterValue } from "./errors.ts";

export interface Fault {
  /** `lines[0].metres`; empty for the arguments as a whole. */
  readonly path: string;
  /** `expected number, got text` */
  readonly message: string;
}

/** More faults of one call aren't listed. */
export const maxFaults = 20;

const maxPath = 256;

/** `.metres`, `[0]`, `["x y"]`, `[Symbol(x)]`: a part of a path, behind what it is in. */
export function pathPart(key: PropertyKey): string {
  if (typeof key !== "string") return `[${String(key)}]`;
  return /^[A-Za-z_$][\w$]*$/.test(key) ? `.${key}` : `[${JSON.stringify(key)}]`;
}

/** A path that is too long keeps its beginning and its end. */
export function cutPath(path: string): string {
  const half = maxPath / 2 - 1;
  return path.length > maxPath ? `${path.slice(0, half)}…${path.slice(-half)}` : path;
}

/** The faults of one call's arguments: at most {@link maxFaults}; `more` if there are others. */
export interface Faults {
  readonly faults: readonly Fault[];
  readonly more: boolean;
}

/** The one fault of the arguments as a whole. */
export function wholeFault(message: string): Faults {
  return { faults: [{ path: "", message }], more: false };
}

const noted = new WeakMap<Error, readonly Fault[]>();

/** The refusal of a call for the faults of its arguments. */
export function refusedArguments({ faults, more }: Faults): InvalidParameterValue {
  const error = new InvalidParameterValue(faultText(faults, more) || undefined);
  noted.set(error, faults);
  return error;
}

/** The faults that {@link refusedArguments} made an error of. */
export function faultsOf(error: Error): readonly Fault[] | undefined {
  return noted.get(error);
}

/** The text of an answer: a line for each fault. */
export function faultText(faults: readonly Fault[], more: boolean): string {
  const lines = faults.map(({ path, message }) => (path === "" ? message : `${path}: ${message}`));
  return [...lines, ...(more ? ["and more"] : [])].join("\n");
}
