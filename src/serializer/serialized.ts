import type { Args } from "../call.ts";
import type { ClassSource } from "./classes.ts";
import type { Limits } from "./limits.ts";

export interface EncodeOptions {
  readonly classes: ClassSource;
  /** What the value is called in messages: `result`. */
  readonly path?: string;
  /** Send the stacks of errors: to a holder of the trust key only. */
  readonly stacks?: boolean;
}

export interface DecodeOptions {
  readonly classes: ClassSource;
  readonly limits: Limits;
  /** The sender may use the RegExp and Error forms (decisions §3). */
  readonly trusted: boolean;
  readonly path?: string;
}

/** The serialized form of `value` (§2.3) as JSON text; a promise only when a Blob is in it. Throws ValueNotSerializable with the path. */
export function encodeSerialized(value: unknown, options: EncodeOptions): string | Promise<string> {
  throw new Error(`${String(value)} ${String(options)}`);
}

/** A call's arguments as the body of a request (§4.2); a promise only when a Blob is in it. */
export function encodeArguments(args: Args, options: EncodeOptions): string | Promise<string> {
  throw new Error(`${String(args)} ${String(options)}`);
}

/** The value of a serialized form. Throws InvalidSerializedValue with the path, or BadRequest. */
export function decodeSerialized(text: string, options: DecodeOptions): unknown {
  throw new Error(text + String(options));
}
