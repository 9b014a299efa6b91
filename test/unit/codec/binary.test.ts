import fc from "fast-check";
import { afterEach, describe, expect, it } from "vitest";

import { expectSame } from "../../_same.ts";
import { binaryFrom, bytesOf, toBase64 } from "../../../src/codec/values/binary.ts";

// Younger runtimes bring these two along; Node 20 doesn't.
type Native = typeof Uint8Array & { fromBase64?: (text: string) => Uint8Array };
const native = {
  from: Object.getOwnPropertyDescriptor(Uint8Array, "fromBase64"),
  to: Object.getOwnPropertyDescriptor(Uint8Array.prototype, "toBase64"),
  buffer: Object.getOwnPropertyDescriptor(globalThis, "Buffer"),
};
const { Buffer } = globalThis;
const restore = (
  holder: object,
  name: string,
  descriptor: PropertyDescriptor | undefined,
): void => {
  if (descriptor) Object.defineProperty(holder, name, descriptor);
  else Reflect.deleteProperty(holder, name);
};
afterEach(() => {
  restore(Uint8Array, "fromBase64", native.from);
  restore(Uint8Array.prototype, "toBase64", native.to);
  restore(globalThis, "Buffer", native.buffer);
});

/** The platform's functions that read and write base64. */
const platforms = ["its own functions", "Buffer", "neither"] as const;
const prepare = (platform: (typeof platforms)[number]): void => {
  Reflect.deleteProperty(Uint8Array, "fromBase64");
  Reflect.deleteProperty(Uint8Array.prototype, "toBase64");
  if (platform === "neither") Reflect.deleteProperty(globalThis, "Buffer");
  if (platform !== "its own functions") return;
  (Uint8Array as Native).fromBase64 = (text) => new Uint8Array(Buffer.from(text, "base64"));
  const prototype: object = Uint8Array.prototype;
  Object.defineProperty(prototype, "toBase64", {
    configurable: true,
    value(this: Uint8Array) {
      return Buffer.from(this).toString("base64");
    },
  });
};

describe.each(platforms)("base64 on a platform with %s", (platform) => {
  it("bytes are encoded as every other encoder does, and decoded again", () => {
    prepare(platform);
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 100 }), (bytes) => {
        const text = toBase64(bytes);
        expect(text).toBe(Buffer.from(bytes).toString("base64"));
        expect(binaryFrom({ type: "Uint8Array", base64: text })).toStrictEqual(bytes);
      }),
    );
  });
  it("100,000 bytes are encoded and decoded", () => {
    prepare(platform);
    const bytes = new Uint8Array(100_000).map((_, index) => index * 7);
    expect(binaryFrom({ type: "Uint8Array", base64: toBase64(bytes) })).toStrictEqual(bytes);
  });
});

describe.each(["Buffer", "neither"] as const)("base64 on a platform with %s", (platform) => {
  it.each(["QQ=a", "Q", "QQ=", "QQ-=", "QQ_=", "Q=Q=", "====", "QQ==QQ==", "QUI=QQ=="])(
    "text that isn't base64 is refused: %s",
    (base64) => {
      prepare(platform);
      expect(binaryFrom({ type: "Uint8Array", base64 })).toBeUndefined();
    },
  );
});

describe("bytesOf", () => {
  it("bytesOf returns the bytes of a view on shared memory, and nothing for other values", () => {
    expect(bytesOf(new Uint8Array(new SharedArrayBuffer(2)))).toHaveLength(2);
    for (const other of [null, undefined, "text", [1], {}, new Blob()])
      expect(bytesOf(other)).toBeUndefined();
  });
  it("a Binary form can only be of a type that is a view or a buffer", () => {
    for (const type of [
      "Buffer",
      "Array",
      "Object",
      "constructor",
      "__proto__",
      "SharedArrayBuffer",
      undefined,
      1,
    ])
      expect(binaryFrom({ type, base64: "" })).toBeUndefined();
  });
});

describe("the form of a Blob or File", () => {
  const blob = { type: "Blob", mediaType: "text/plain", base64: "YQ==" };
  const file = { ...blob, type: "File", fileName: "a.txt", lastModified: 5 };
  it("the form of a Blob or File has its media type, and of a File the name and time too", async () => {
    await expectSame(binaryFrom(blob), new Blob(["a"], { type: "text/plain" }));
    await expectSame(
      binaryFrom(file),
      new File(["a"], "a.txt", { type: "text/plain", lastModified: 5 }),
    );
    expect(binaryFrom({ ...file, mediaType: undefined, lastModified: undefined })).toMatchObject({
      name: "a.txt",
      type: "",
    });
  });
  it.each<[string, object]>([
    ["bytes that are no base64", { ...file, base64: "$" }],
    ["bytes that are no text", { ...file, base64: ["YQ=="] }],
    ["no bytes", { ...file, base64: undefined }],
    ["a file without a name", { ...file, fileName: undefined }],
    ["a name that is no text", { ...file, fileName: 1 }],
    ["a time that is none", { ...file, lastModified: "5" }],
    ["a time out of JSON's reach", { ...file, lastModified: Infinity }],
    ["a media type that is no text", { ...file, mediaType: null }],
    ["a name of a Blob", { ...blob, fileName: "a.txt" }],
    ["a time of a Blob", { ...blob, lastModified: 5 }],
    ["a media type of bytes", { ...blob, type: "Uint8Array" }],
    ["a name of bytes", { type: "Uint8Array", base64: "", fileName: 1 }],
  ])("is nothing with %s", (_, form) => {
    expect(binaryFrom(form as Record<string, unknown>)).toBeUndefined();
  });
});
