// Types and their values, as fast-check draws them.

import fc, { type GeneratorValue } from "fast-check";
import type { Literal, Member, Type } from "../../server/types/model.ts";

export type Draw = GeneratorValue;

const names = ["a", "b", "c", "kind"];
const literals: readonly Literal[] = ["x", "y", "1", "true", 1, 2, true, { bigint: "5" }];

const leaves: readonly Type[] = [
  { kind: "string" },
  { kind: "string" },
  { kind: "string", maxLength: 3 },
  { kind: "string", minLength: 2 },
  { kind: "string", format: "uuid" },
  { kind: "string", case: "upper" },
  { kind: "string", case: "capitalized" },
  { kind: "template", parts: ["a-", { kind: "number" }, ""] },
  { kind: "template", parts: ["a-", { kind: "string" }, ""] },
  { kind: "number" },
  { kind: "number" },
  { kind: "number", min: 0 },
  { kind: "number", max: 10 },
  { kind: "number", int: true },
  { kind: "number", int: true, min: 1, max: 3 },
  { kind: "boolean" },
  { kind: "bigint" },
  { kind: "null" },
  { kind: "undefined" },
  { kind: "date" },
  { kind: "url" },
  { kind: "binary", type: "Uint8Array" },
  { kind: "binary", type: "ArrayBufferView" },
  { kind: "unknown" },
  { kind: "defined" },
  { kind: "nonprimitive" },
];

/** A type; references are to `Tree`, which has a type of its own in each build. */
export function drawType(draw: Draw, depth = 0): Type {
  const pick = <T>(list: readonly T[]): T => list[draw(fc.nat, { max: list.length - 1 })]!;
  const form = draw(fc.nat, { max: depth > 2 ? 9 : 19 });
  if (form < 8) return pick(leaves);
  if (form < 10) return { kind: "literals", values: drawSome(draw, literals) };
  switch (form) {
    case 10:
      return {
        kind: "array",
        items: drawType(draw, depth + 1),
        ...(draw(fc.boolean) && { maxLength: 2 }),
      };
    case 11:
      return {
        kind: "tuple",
        first: Array.from({ length: draw(fc.nat, { max: 2 }) }, () => ({
          type: drawType(draw, depth + 1),
        })),
        ...(draw(fc.boolean) && { rest: drawType(draw, depth + 1) }),
      };
    case 12:
      return { kind: "set", items: drawType(draw, depth + 1) };
    case 13:
      return { kind: "map", keys: { kind: "string" }, values: drawType(draw, depth + 1) };
    case 14:
      return { kind: "ref", to: "Tree" };
    case 15:
    case 16:
      return drawUnion(draw, depth);
    default:
      return drawObject(draw, depth);
  }
}

function drawUnion(draw: Draw, depth: number): Type {
  const arms = Array.from({ length: 2 + draw(fc.nat, { max: 1 }) }, () =>
    drawType(draw, depth + 1),
  );
  return { kind: "union", arms };
}

export function drawObject(draw: Draw, depth = 0): Type & { readonly kind: "object" } {
  const members = drawSome(draw, names).map((name): [string, Member] => [
    name,
    drawMember(draw, depth, name),
  ]);
  const keys = draw(fc.nat, { max: 9 });
  return {
    kind: "object",
    members: Object.fromEntries(members),
    ...(keys < 2 && {
      index: [
        {
          keys:
            keys === 0
              ? { kind: "string" }
              : { kind: "template", parts: ["x-", { kind: "string" }, ""] },
          values: drawType(draw, depth + 2),
        },
      ],
    }),
  };
}

function drawMember(draw: Draw, depth: number, name: string): Member {
  const type: Type =
    name === "kind"
      ? { kind: "literals", values: drawSome(draw, ["x", "y"]) }
      : drawType(draw, depth + 1);
  return draw(fc.boolean) ? { type, optional: true } : { type };
}

function drawSome<T>(draw: Draw, list: readonly T[]): T[] {
  const chosen = list.filter(() => draw(fc.boolean));
  return chosen.length > 0 ? chosen : [list[0]!];
}

/** A type as the next build may have it: mostly the same, with something changed somewhere. */
export function drawChange(draw: Draw, type: Type, depth = 0): Type {
  const kind = draw(fc.nat, { max: 9 });
  if (kind === 0) return drawType(draw, depth);
  if (kind === 1) return { kind: "union", arms: [type, drawType(draw, depth + 1)] };
  const inside = (part: Type): Type =>
    draw(fc.boolean) ? drawChange(draw, part, depth + 1) : part;
  switch (type.kind) {
    case "union":
      return kind === 2 && type.arms.length > 1
        ? type.arms[0]!
        : { ...type, arms: type.arms.map(inside) };
    case "literals":
      return { ...type, values: kind < 6 ? [...type.values, "z"] : type.values.slice(0, 1) };
    case "array":
      return { kind: "array", items: inside(type.items), ...(kind < 4 && { minLength: 1 }) };
    case "set":
      return { ...type, items: inside(type.items) };
    case "map":
      return { ...type, values: inside(type.values) };
    case "tuple":
      return { ...type, first: type.first.map((item) => ({ ...item, type: inside(item.type) })) };
    case "object": {
      const members = Object.entries(type.members).map(([name, member]): [string, Member] => {
        const { optional: _, ...required } = member;
        const changed = draw(fc.nat, { max: 5 });
        if (changed === 0) return [name, required];
        return [
          name,
          changed < 3 ? { ...member, optional: true } : { ...member, type: inside(member.type) },
        ];
      });
      if (kind === 2) members.pop();
      if (kind === 3) members.push(["d", drawMember(draw, depth, "d")]);
      return { ...type, members: Object.fromEntries(members) };
    }
    default:
      return type;
  }
}

const texts = [
  "",
  "x",
  "y",
  "z",
  "a-1",
  "a-b",
  "AB",
  "Ab",
  "abcdef",
  "1",
  "true",
  "8f14e45f-ceea-4e7b-9d3a-0c1f2b3a4d5e",
  "2026-11-20",
];
const anything: readonly unknown[] = [
  1,
  1.5,
  -1,
  7,
  12,
  5n,
  "x",
  true,
  null,
  new Date(0),
  ["x"],
  { a: 1 },
  { b: "x", c: [1] },
  new Set([1]),
];

/** A value that a type takes, without members that it doesn't name. */
export function drawValue(
  draw: Draw,
  type: Type,
  definitions: Readonly<Record<string, Type>>,
  depth = 0,
): unknown {
  const pick = <T>(list: readonly T[]): T => list[draw(fc.nat, { max: list.length - 1 })]!;
  const value = (part: Type): unknown => drawValue(draw, part, definitions, depth + 1);
  const some = (part: Type, least = 0): unknown[] =>
    depth > 5 && least === 0
      ? []
      : Array.from({ length: least + draw(fc.nat, { max: 2 }) }, () => value(part));
  switch (type.kind) {
    case "string":
    case "template":
      return pick(texts);
    case "number":
      return pick([0, 1, 2, 1.5, -4, 10, 11, Number.NaN]);
    case "boolean":
      return draw(fc.boolean);
    case "bigint":
      return pick([5n, -1n]);
    case "null":
      return null;
    case "date":
      return new Date("2026-11-20T10:00:00Z");
    case "url":
      return new URL("https://example.com/");
    case "binary":
      return type.type === "Uint8Array"
        ? new Uint8Array(8)
        : pick([new Uint8Array(8), new Float64Array(1)]);
    case "unknown":
    case "defined":
    case "nonprimitive":
      return pick(anything);
    case "literals": {
      const literal = pick(type.values);
      return typeof literal === "object" ? BigInt(literal.bigint) : literal;
    }
    case "array":
      return some(type.items, type.minLength);
    case "tuple":
      return [
        ...type.first.map((item) => value(item.type)),
        ...(type.rest === undefined ? [] : some(type.rest)),
      ];
    case "set":
      return new Set(some(type.items));
    case "map":
      return new Map(some(type.values).map((item, index) => [pick(["a", "b"]) + index, item]));
    case "union":
      return value(pick(type.arms));
    case "ref":
      return depth > 6 ? undefined : value(definitions[type.to]!);
    case "object": {
      const entries = Object.entries(type.members).flatMap(([name, member]): [string, unknown][] =>
        member.optional && (depth > 4 || draw(fc.boolean)) ? [] : [[name, value(member.type)]],
      );
      for (const { keys, values } of type.index ?? [])
        if (depth < 5 && draw(fc.boolean))
          entries.push([keys.kind === "string" ? pick(["d", "e"]) : "x-1", value(values)]);
      return Object.fromEntries(entries);
    }
    default:
      return undefined;
  }
}

/** As callers write a value in plain JSON. */
export function plainJson(value: unknown): unknown {
  if (typeof value === "bigint") return String(value);
  if (typeof value !== "object" || value === null) return value;
  if (value instanceof Date) return value.toISOString();
  if (value instanceof URL) return value.href;
  if (ArrayBuffer.isView(value)) return Buffer.from(value.buffer).toString("base64");
  if (value instanceof Set) return [...value].map(plainJson);
  if (value instanceof Map) return [...value].map(([key, item]) => [key, plainJson(item)]);
  if (Array.isArray(value)) return value.map(plainJson);
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, item]) =>
      item === undefined ? [] : [[name, plainJson(item)]],
    ),
  );
}
