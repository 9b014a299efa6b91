// The codec of remote calls for all values, with the classes of an application.

import { ValueNotSerializable } from "../../base/errors.ts";
import type { IncomingResponse } from "../../base/ports.ts";
import type { ClassTable } from "../../codec/class-table.ts";
import { snapshot } from "../../codec/values/snapshot.ts";
import { decodeAnswer } from "../decode-answer.ts";
import { bothEncodings, type CallCodec } from "./send-call.ts";
import { encodeCall } from "../superjson.ts";

export interface CodecOptions {
  readonly classes: ClassTable;
  /** Called with each error that a response carries. */
  readonly onError?: ((error: unknown, response: IncomingResponse) => void) | undefined;
}

export function createCodec({ classes, onError }: CodecOptions): CallCodec {
  return {
    encode: (args) =>
      withClasses(classes, args, (taken) => encodeCall(taken, { classes }, bothEncodings)),
    decode: (response) => decodeAnswer(response, { classes, onError }),
  };
}

/**
 * Encodes `value`. If a class is missing, loads the remaining classes and encodes the value again, as it was
 * before.
 */
export function withClasses<V, T>(
  classes: ClassTable,
  value: V,
  encode: (value: V) => T | Promise<T>,
): T | Promise<T> {
  const again = async (thrown: unknown, taken: V): Promise<T> => {
    if (classes.load === undefined || !(thrown instanceof ValueNotSerializable)) throw thrown;
    await classes.load();
    return await encode(taken);
  };
  try {
    const encoded = encode(value);
    if (classes.load === undefined || !(encoded instanceof Promise)) return encoded;
    const taken = snapshot(value);
    return encoded.catch((thrown: unknown) => again(thrown, taken));
  } catch (thrown) {
    if (classes.load === undefined) throw thrown;
    return again(thrown, snapshot(value));
  }
}
