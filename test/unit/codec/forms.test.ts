import { describe, expect, it } from "vitest";

import { InvalidSerializedValue } from "../../../src/base/errors.ts";
import { encodeSerialized } from "../../../src/codec/serialized.ts";
import { expectSame } from "../../_same.ts";
import { wireCases } from "../../_wire-cases.ts";
import { decode, trusted } from "./_codec.ts";

// With a Blob in it, it is a promise.
const encode = async (value: unknown): Promise<unknown> =>
  JSON.parse(await encodeSerialized(value, trusted));

describe.each(wireCases)("serialized form: $name", (one) => {
  const expected = "decoded" in one ? one.decoded : one.value;
  it("the value encodes to the form", async () => {
    expect(await encode(one.value)).toEqual(one.wire);
  });
  it("the form decodes to the value", async () => {
    await expectSame(decode(one.wire, trusted), expected);
  });
  it("the decoded value encodes to the same form", async () => {
    expect(await encode(decode(one.wire, trusted))).toEqual(one.wire);
  });
  it("the form decodes from outside only if nothing in it needs trust", async () => {
    if (one.trusted) expect(() => decode(one.wire)).toThrow(InvalidSerializedValue);
    else await expectSame(decode(one.wire), expected);
  });
});
