// Shows a result without the application's classes: an instance is its class's key, constructor
// arguments and fields.

import { inspect, type InspectOptionsStylized } from "node:util";
import { Opaque } from "../../src/codec/class-table.ts";
import { OpaqueClasses } from "../../src/codec/classes.ts";
import { printable } from "../base/printable.ts";
import { decodeParsed, encodeSerialized } from "../../src/codec/serialized.ts";

export interface ShownOptions {
  readonly colors: boolean;
  readonly columns?: number | undefined;
  /** At a terminal, control characters in a text from elsewhere are escaped. */
  readonly isTTY?: boolean | undefined;
}

/** A string as it is; everything else as Node's console shows it, in full. */
export function shown(
  value: unknown,
  { colors, columns = 80, isTTY = false }: ShownOptions,
): string {
  if (typeof value === "string") return isTTY ? printable(value) : value;
  return inspect(value, {
    colors,
    breakLength: columns,
    depth: Infinity,
    maxArrayLength: Infinity,
    maxStringLength: Infinity,
  });
}

/** A value or an error as JSON of the serialized encoding. */
export async function jsonOf(value: unknown): Promise<unknown> {
  return JSON.parse(await encodeSerialized(value, { classes: new OpaqueClasses() })) as unknown;
}

Object.defineProperty(Opaque.prototype, inspect.custom, {
  value(this: Opaque, _: number, options: InspectOptionsStylized): string {
    const { key, args, fields } = partsOf(this);
    const list = Array.from({ length: lengthOf(args) }, (__, at) =>
      at in args ? inspect(args[at], options) : "…",
    );
    const rest = Object.keys(fields).length === 0 ? "" : ` ${inspect({ ...fields }, options)}`;
    return `${options.stylize(key, "special")}(${list.join(", ")})${rest}`;
  },
});

interface Parts {
  readonly key: string;
  /** By position. Arguments that can't be read back from the instance were not sent. */
  readonly args: Readonly<Record<string, unknown>>;
  readonly fields: Readonly<Record<string, unknown>>;
}

function partsOf({ form, parts }: Opaque): Parts {
  if (parts !== undefined) return parts as unknown as Parts;
  const { key, args, fields } = form as Parts;
  return { key, args: decoded(args), fields: decoded(fields) };
}

function decoded(members: Readonly<Record<string, unknown>> | undefined): Parts["args"] {
  const limits = {
    maxDepth: Infinity,
    maxValues: Infinity,
    maxObjects: Infinity,
    maxDigits: Infinity,
  };
  const read = (value: unknown): unknown =>
    decodeParsed(structuredClone(value), {
      classes: new OpaqueClasses(),
      limits,
      trusted: true,
    });
  return Object.fromEntries(
    Object.entries(members ?? {}).map(([name, value]) => [name, read(value)]),
  );
}

function lengthOf(args: Parts["args"]): number {
  return Math.max(0, ...Object.keys(args).map((position) => Number(position) + 1));
}
