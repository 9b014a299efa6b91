// What a procedure returned, for somebody who has none of the application's classes: an instance is its class's key, what its constructor
// takes, and its fields.

import { inspect, type InspectOptionsStylized, stripVTControlCharacters } from "node:util";
import { Opaque } from "../../src/serializer/class-table.ts";
import { OpaqueClasses } from "../../src/serializer/classes.ts";
import { decodeParsed, encodeSerialized } from "../../src/serializer/serialized.ts";

export interface ShownOptions {
  readonly colors: boolean;
  readonly columns?: number | undefined;
  /** It goes to a terminal, which a text from elsewhere must not steer. */
  readonly isTTY?: boolean | undefined;
}

/** Text as it is, everything else as Node's own console shows it, whole. */
export function shown(
  value: unknown,
  { colors, columns = 80, isTTY = false }: ShownOptions,
): string {
  if (typeof value === "string") return isTTY ? stripVTControlCharacters(value) : value;
  return inspect(value, {
    colors,
    breakLength: columns,
    depth: Infinity,
    maxArrayLength: Infinity,
    maxStringLength: Infinity,
  });
}

/** A value or an error as the JSON of the serialized encoding (§2.3). */
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
  /** By position; one that can't be read back from the instance was not sent. */
  readonly args: Readonly<Record<string, unknown>>;
  readonly fields: Readonly<Record<string, unknown>>;
}

function partsOf({ form, parts }: Opaque): Parts {
  if (parts !== undefined) return parts as unknown as Parts;
  const { key, args, fields } = form as Parts;
  return { key, args: decoded(args), fields: decoded(fields) };
}

function decoded(members: Readonly<Record<string, unknown>> | undefined): Parts["args"] {
  const limits = { depth: Infinity, values: Infinity, objects: Infinity, digits: Infinity };
  const read = (value: unknown): unknown =>
    decodeParsed(structuredClone(value), JSON.stringify(value), {
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
