import type { Args } from "./call.ts";
import type { Parameter } from "./manifest.ts";
import type { Limits } from "./serializer/limits.ts";

/** From names to positions, compiled once per procedure. Throws MissingParameterValue, UnknownParameter, InvalidParameterValue (§4.2). */
export function bindArguments(parameters: readonly Parameter[]): (args: Args) => unknown[] {
  throw new Error(String(parameters));
}

/** From positions to names: the seam's way of sending what it was called with (decisions §2). */
export function nameArguments(parameters: readonly Parameter[]): (args: ArrayLike<unknown>) => Args {
  throw new Error(String(parameters));
}

/** Arguments from a query string: text by the parameter's type, repeated keys to arrays (§4.1, decisions §2). */
export function convertQuery(parameters: readonly Parameter[], query: Iterable<[string, string]>, limits?: Limits): Args {
  throw new Error(String([parameters, query, limits]));
}
