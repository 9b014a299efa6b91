// The codec of remote calls for all values, with the classes of an application.

import { ValueNotSerializable } from "../../base/errors.ts";
import type { IncomingResponse } from "../../base/ports.ts";
import type { ClassTable } from "../../codec/class-table.ts";
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
    encode: (args) => withClasses(classes, () => encodeCall(args, { classes }, bothEncodings)),
    decode: (response) => decodeAnswer(response, { classes, onError }),
  };
}

/** Encodes, and once more after loading the remaining classes if one is missing. */
export function withClasses<T>(classes: ClassTable, encode: () => T | Promise<T>): T | Promise<T> {
  const again = async (thrown: unknown): Promise<T> => {
    if (classes.load === undefined || !(thrown instanceof ValueNotSerializable)) throw thrown;
    await classes.load();
    return await encode();
  };
  try {
    const encoded = encode();
    return encoded instanceof Promise ? encoded.catch(again) : encoded;
  } catch (thrown) {
    return again(thrown);
  }
}
