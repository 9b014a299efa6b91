import fc from "fast-check";
import { describe, expect, it } from "vitest";

import { ClassTable } from "../../../src/codec/class-table.ts";
import { blobHeaders } from "../../../src/wire/blob-headers.ts";
import { encodeResult } from "../../../src/wire/encode-result.ts";

const bytes = "application/octet-stream";
const attachment = "attachment";
/** A type that the platform's own Blob may not take. */
const typed = (type: string): Blob => Object.defineProperty(new Blob([]), "type", { value: type });

describe("a Blob as a plain answer", () => {
  it.each([
    "image/png",
    "image/jpeg",
    "image/gif",
    "image/webp",
    "image/avif",
    "audio/mpeg",
    "video/mp4",
    "font/woff2",
    "text/plain",
    bytes,
  ])("is shown under its own type when that is harmless: %s", (type) => {
    expect(blobHeaders(new Blob([], { type }))).toEqual({ "content-type": type });
  });
  it.each([
    "text/html",
    "text/html; charset=utf-8",
    "image/svg+xml",
    "application/xhtml+xml",
    "application/xml",
    "text/xml",
    "text/css",
    "text/javascript",
    "application/pdf",
    "application/json",
    "image/bmp",
    "multipart/x-mixed-replace",
    "x/y",
  ])("is saved under its own type when that isn't: %s", (type) => {
    expect(blobHeaders(new Blob([], { type }))).toEqual({
      "content-type": type,
      "content-disposition": attachment,
    });
  });
  it("a Blob's type decides without its parameters and in any case", () => {
    expect(blobHeaders(typed('IMAGE/PNG; a="b;c,\\"d"'))).toEqual({
      "content-type": 'IMAGE/PNG; a="b;c,\\"d"',
    });
    expect(blobHeaders(typed("text/plain;charset=utf-8 ; x=html"))).toEqual({
      "content-type": "text/plain;charset=utf-8 ; x=html",
    });
    expect(blobHeaders(typed("Text/HTML;x=image/png"))).toMatchObject({
      "content-disposition": attachment,
    });
  });
  it("a File of another realm is offered for download under its name, as one of this realm is", async () => {
    /** As jsdom makes them: not a Blob for the platform. */
    const file = {
      [Symbol.toStringTag]: "File",
      name: "a.txt",
      type: "text/plain",
      arrayBuffer: async (): Promise<ArrayBuffer> => new TextEncoder().encode("hello").buffer,
    };
    const answer = await encodeResult(file, "plain", { classes: new ClassTable() });
    expect(answer.headers).toMatchObject({
      "content-type": "text/plain",
      "content-disposition": "attachment; filename*=UTF-8''a.txt",
    });
    expect(new TextDecoder().decode(answer.body as Uint8Array)).toBe("hello");
  });

  it("a Blob without a type is sent as bytes", () => {
    expect(blobHeaders(new Blob([]))).toEqual({ "content-type": bytes });
  });
  it.each<[string, string]>([
    ["none", "text"],
    ["two", "text/plain, text/html"],
    ["one with a space", "text/ html"],
    ["one with brackets", "text/<html>"],
    ["a line break", "text/plain\r\nset-cookie: a=b"],
    ["a character that no header has", "text/plain; a=\u{1f9f5}"],
    ["a control character in a parameter", 'text/plain; a="\u0000"'],
    ["an unfinished parameter", "image/png; a"],
    ["a very long one", `image/png; a=${"b".repeat(300)}`],
  ])("whose type is %s is bytes to be saved", (_, type) => {
    expect(blobHeaders(typed(type))).toEqual({
      "content-type": bytes,
      "content-disposition": attachment,
    });
  });
});

describe("a File as a plain answer", () => {
  const nameOf = (name: string, type = "image/png"): string | undefined =>
    blobHeaders(new File([], name, { type }))["content-disposition"];
  it.each<[string, string, string]>([
    ["plain", "cloth.png", "cloth.png"],
    [
      "with spaces and quotes",
      `my "best" 'cloth' (1).png`,
      "my%20%22best%22%20%27cloth%27%20%281%29.png",
    ],
    [
      "of other letters",
      "žluťoučký 布 🧵.png",
      "%C5%BElu%C5%A5ou%C4%8Dk%C3%BD%20%E5%B8%83%20%F0%9F%A7%B5.png",
    ],
    [
      "with control characters",
      "a\r\nset-cookie: b=c\u0000\t.png",
      "a%0D%0Aset-cookie%3A%20b%3Dc%00%09.png",
    ],
    ["that is a path", "../../etc/passwd", "..%2F..%2Fetc%2Fpasswd"],
    [
      "with all that stands for itself",
      "!#$&+-.^_`|~*%;,=",
      "!%23%24%26%2B-.%5E_%60%7C~%2A%25%3B%2C%3D",
    ],
  ])("is saved under its name: %s", (_, name, encoded) => {
    expect(nameOf(name)).toBe(`attachment; filename*=UTF-8''${encoded}`);
  });
  it("a File without a name is saved without one", () => {
    expect(blobHeaders(new File([], "", { type: "image/png" }))).toEqual({
      "content-type": "image/png",
      "content-disposition": attachment,
    });
  });
  it("the headers of a File have a bounded size", () => {
    expect(nameOf("🧵".repeat(10_000))?.length).toBeLessThan(2_000);
    // The cut character is replaced, as half of it would be invalid.
    expect(nameOf("🧵".repeat(10_000))).toMatch(/%F0%9F%A7%B5%EF%BF%BD$/);
  });
  it("the headers of a File are valid, whatever its name and type are", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), fc.string({ unit: "binary" }), (name, type) => {
        const file = Object.defineProperty(new File([], name), "type", { value: type });
        for (const value of Object.values(blobHeaders(file))) {
          expect(value).toMatch(/^[\x20-\x7e\t]+$/);
          expect(() => new Headers({ value })).not.toThrow();
        }
        const [, encoded = ""] = blobHeaders(file)["content-disposition"]!.split("''");
        expect(decodeURIComponent(encoded)).toBe(file.name.slice(0, 255));
      }),
    );
  });
});
