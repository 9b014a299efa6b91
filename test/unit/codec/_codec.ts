// Short ways to the two sides of the first encoding, over the classes of the wire cases.

import { defaultLimits } from "../../../src/base/limits.ts";
import {
  decodeSerialized,
  type DecodeOptions,
  encodeSerialized,
} from "../../../src/codec/serialized.ts";
import { createWireClasses } from "../../_wire-classes.ts";

const classes = createWireClasses();

/** As a service decodes what another service sent. */
export const trusted: DecodeOptions = { classes, limits: defaultLimits, trusted: true };
/** As a service decodes what came from outside. */
export const outside: DecodeOptions = { ...trusted, trusted: false };

/** For a service. Without a Blob in the value. */
export function encode(value: unknown, stacks = false): string {
  return encodeSerialized(value, { classes, path: "result", trusted: true, stacks }) as string;
}

export function decode(wire: unknown, more: Partial<DecodeOptions> = {}): unknown {
  return decodeSerialized(JSON.stringify(wire), { ...outside, path: "args", ...more });
}

/** A serialized form. */
export function mark(name: unknown, rest: object = {}): object {
  return { serialized: true, name, ...rest };
}
