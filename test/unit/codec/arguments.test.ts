import { describe, expect, it } from "vitest";

import { BadRequest } from "../../../src/base/errors.ts";
import { decodeMembers, encodeArguments } from "../../../src/codec/serialized.ts";
import { parseText } from "../../../src/codec/values/text.ts";
import { mark, outside, trusted } from "./_codec.ts";

const { classes } = trusted;

describe("arguments of a call", () => {
  it("names of arguments aren't data: a parameter may be called serialized, undefined is sent, nothing is escaped", () => {
    const args = new Map<string, unknown>([
      ["serialized", true],
      ["name", undefined],
      ["...rest", [new Date(0)]],
    ]);
    const { text } = encodeArguments(args, { classes });
    expect(JSON.parse(text)).toEqual({
      serialized: true,
      name: mark("Undefined"),
      "...rest": [mark("Date", { value: "1970-01-01T00:00:00.000Z" })],
    });
    expect(decodeMembers(parseText(text, outside.limits), outside)).toEqual(args);
  });
  it("names of arguments that are refused as keys of data are unknown names", () => {
    expect([
      ...decodeMembers(parseText('{"__proto__":1,"constructor":{"a":1}}', outside.limits), outside),
    ]).toEqual([
      ["__proto__", 1],
      ["constructor", { a: 1 }],
    ]);
  });
  it("an argument that can't be sent is reported with its parameter in the path", () => {
    expect(() =>
      decodeMembers(
        parseText('{"people":[{"serialized":true,"name":"x"}]}', outside.limits),
        outside,
      ),
    ).toThrow("args.people[0]: there is no");
    expect(() => encodeArguments(new Map([["people", [() => 1]]]), { classes })).toThrow(
      "args.people[0]: a function",
    );
  });
  it.each(["[]", "null", "1", '"a"', '[{"serialized":true}]'])(
    "a body that is not an object is refused: %s",
    (text) => {
      expect(() => decodeMembers(parseText(text, outside.limits), outside)).toThrow(
        new BadRequest("The body must be a JSON object"),
      );
    },
  );
});
