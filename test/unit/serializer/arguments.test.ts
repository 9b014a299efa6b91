import { describe, expect, it } from "vitest";

import { BadRequest } from "../../../src/errors.ts";
import { decodeMembers, encodeArguments } from "../../../src/serializer/serialized.ts";
import { mark, outside, trusted } from "./_codec.ts";

const { classes } = trusted;

describe("arguments of a call", () => {
  it("names are no data: a parameter may be called serialized, undefined is sent, nothing is escaped", () => {
    const args = new Map<string, unknown>([
      ["serialized", true],
      ["name", undefined],
      ["...rest", [new Date(0)]],
    ]);
    const text = encodeArguments(args, { classes }) as string;
    expect(JSON.parse(text)).toEqual({
      serialized: true,
      name: mark("Undefined"),
      "...rest": [mark("Date", { value: "1970-01-01T00:00:00.000Z" })],
    });
    expect(decodeMembers(text, outside)).toEqual(args);
  });
  it("names that are refused as data are unknown names", () => {
    expect([...decodeMembers('{"__proto__":1,"constructor":{"a":1}}', outside)]).toEqual([
      ["__proto__", 1],
      ["constructor", { a: 1 }],
    ]);
  });
  it("names the parameter in the path", () => {
    expect(() => decodeMembers('{"people":[{"serialized":true,"name":"x"}]}', outside)).toThrow(
      "args.people[0]: there is no",
    );
    expect(() => encodeArguments(new Map([["people", [() => 1]]]), { classes })).toThrow(
      "args.people[0]: a function",
    );
  });
  it.each(["[]", "null", "1", '"a"', '[{"serialized":true}]'])(
    "a body that is no object: %s",
    (text) => {
      expect(() => decodeMembers(text, outside)).toThrow(
        new BadRequest("The body must be a JSON object"),
      );
    },
  );
});
