import { describe, expect, it } from "vitest";

import { InvalidSerializedValue } from "../../../src/errors.ts";
import { encodeSerialized } from "../../../src/serializer/serialized.ts";
import { expectSame } from "../../_same.ts";
import { wireCases } from "../../_wire-cases.ts";
import { decode, trusted } from "./_codec.ts";

// With a Blob in it, it is a promise.
const encode = async (value: unknown): Promise<unknown> =>
  JSON.parse(await encodeSerialized(value, trusted));

describe.each(wireCases)("decisions §3, serialized form: $name", (one) => {
  const expected = "decoded" in one ? one.decoded : one.value;
  it("encodes to the form", async () => {
    expect(await encode(one.value)).toEqual(one.wire);
  });
  it("decodes to the value", async () => {
    await expectSame(decode(one.wire, trusted), expected);
  });
  it("comes back as the same form", async () => {
    expect(await encode(decode(one.wire, trusted))).toEqual(one.wire);
  });
  it("decodes from outside only when nothing in it needs trust", async () => {
    if (one.trusted) expect(() => decode(one.wire)).toThrow(InvalidSerializedValue);
    else await expectSame(decode(one.wire), expected);
  });
});
