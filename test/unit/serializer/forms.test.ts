import { describe, expect, it } from "vitest";

import { InvalidSerializedValue } from "../../../src/errors.ts";
import { wireCases } from "../../_wire-cases.ts";
import { decode, encode, trusted } from "./_codec.ts";

describe.each(wireCases)("decisions §3, serialized form: $name", (one) => {
  it("encodes to the form", () => {
    expect(JSON.parse(encode(one.value))).toEqual(one.wire);
  });
  it("decodes to the value", () => {
    expect(decode(one.wire, trusted)).toStrictEqual("decoded" in one ? one.decoded : one.value);
  });
  it("comes back as the same form", () => {
    expect(JSON.parse(encode(decode(one.wire, trusted)))).toEqual(one.wire);
  });
  it("decodes from outside only when nothing in it needs trust", () => {
    if (one.trusted) expect(() => decode(one.wire)).toThrow(InvalidSerializedValue);
    else expect(decode(one.wire)).toStrictEqual("decoded" in one ? one.decoded : one.value);
  });
});
