import { describe, expect, it } from "vitest";

import { BadRequest } from "../../../src/base/errors.ts";
import { parseMultipart, type Part } from "../../../src/codec/multipart/parse-multipart.ts";
import { writeMultipart } from "../../../src/codec/multipart/write-multipart.ts";
import { processorMs } from "../../_processor-time.ts";

const limits = { uploadParts: 1_000 };
const type = "multipart/form-data; boundary=b";
const bytes = (text: string): Uint8Array<ArrayBuffer> => new TextEncoder().encode(text);
const parse = (body: string | Uint8Array, contentType = type): Part[] =>
  parseMultipart(typeof body === "string" ? bytes(body) : body, contentType, limits);
const shown = (parts: readonly Part[]): unknown[] =>
  parts.map(({ name, fileName, type: media, bytes: content }) => [
    name,
    fileName,
    media,
    new TextDecoder().decode(content),
  ]);
const part = (head: string, content = ""): string => `--b\r\n${head}\r\n\r\n${content}\r\n`;
const named = 'Content-Disposition: form-data; name="a"';

describe("a multipart body", () => {
  it("is read as its parts, whatever their bytes", () => {
    const file =
      'content-disposition: form-data; name="f"; filename="a.txt"\r\nContent-Type: text/plain';
    expect(
      shown(
        parse(`${part(named, "x\r\n--\r\n--c\n--b\r")}${part(file)}${part(named, "\r\n")}--b--`),
      ),
    ).toEqual([
      ["a", undefined, "", "x\r\n--\r\n--c\n--b\r"],
      ["f", "a.txt", "text/plain", ""],
      ["a", undefined, "", "\r\n"],
    ]);
    expect(parse("--b--\r\n")).toEqual([]);
  });

  it.each([
    ['name="a"; filename="a \\"b\\" \\\\.txt"', 'a "b" \\.txt'],
    ['name="a"; filename="%22%0D%0A%41.txt"', '"\r\n%41.txt'],
    ['name="a"; filename="C:\\x.txt"', "C:\\x.txt"],
    ["name=a; filename=b.txt", "b.txt"],
    ['filename="a; name=b" ;name="a"', "a; name=b"],
    ['name="a"; filename="x"; filename*=UTF-8\'\'caf%C3%A9.txt', "café.txt"],
    ['name="a"; filename="x"; filename*=UTF-8\'\'%FF', "x"],
    ['name="a"; filename=""', ""],
    // Browsers don't escape backslashes.
    ['name="a"; filename="b\\"', "b\\"],
    ['filename="b\\"; name="a"', "b\\"],
    ['filename="b\\\\\\"; x"; name="a"', 'b\\"; x'],
  ])("reads the file name of: %s", (parameters, fileName) => {
    const [first] = parse(`${part(`Content-Disposition: form-data; ${parameters}`)}--b--`);
    expect([first?.name, first?.fileName]).toEqual(["a", fileName]);
  });

  it.each([
    ["a quoted boundary", 'Multipart/Form-Data; charset=x; Boundary="b"'],
    ["more behind the boundary", "multipart/form-data;boundary=b ; charset=utf-8"],
  ])("is read with %s", (_, contentType) => {
    expect(shown(parse(`${part(named, "1")}--b--`, contentType))).toHaveLength(1);
  });

  it.each<[string, string | Uint8Array, RegExp, string?]>([
    ["without a boundary", "--b--", /needs a boundary/, "multipart/form-data"],
    ["with an empty boundary", "----", /needs a boundary/, "multipart/form-data; boundary="],
    [
      "with a boundary that is too long",
      "",
      /needs a boundary/,
      `multipart/form-data; boundary=${"b".repeat(71)}`,
    ],
    [
      "with a boundary of two lines",
      "",
      /needs a boundary/,
      'multipart/form-data; boundary="a\rb"',
    ],
    ["with another boundary", "--c--", /doesn't begin with its boundary/],
    ["with a preamble", "hello\r\n--b--", /doesn't begin with its boundary/],
    ["of nothing but its boundary", "--b", /ends before its last boundary/],
    ["cut off after a line", "--b\r\n", /ends before its last boundary/],
    ["cut off in the headers", `--b\r\n${named}`, /ends before its last boundary/],
    ["cut off in the content", `--b\r\n${named}\r\n\r\nabc`, /ends before its last boundary/],
    ["cut off in the last boundary", `${part(named)}--b-`, /ends before its last boundary/],
    ["cut off before the last boundary", part(named), /ends before its last boundary/],
    ["with more after its end", "--b--\r\nmore", /goes on after/],
    ["with a boundary inside a line", `${part(named)}--bc--`, /must be a line of its own/],
    [
      "with line feeds only",
      '--b\nContent-Disposition: form-data; name="a"\n\n1\n--b--',
      /line of its own/,
    ],
    ["with a part without headers", "--b\r\n\r\n\r\n\r\n--b--", /Part 1 .* header line/],
    [
      "with a part without a name",
      `${part("Content-Disposition: form-data")}--b--`,
      /Part 1 .*name=/,
    ],
    [
      "with another disposition",
      `${part("Content-Disposition: file; name=a")}--b--`,
      /Part 1 .*name=/,
    ],
    ["with a part of a type only", `${part("Content-Type: a/b")}--b--`, /Part 1 .*name=/],
    [
      "with an open quote",
      `${part('Content-Disposition: form-data; name="a')}--b--`,
      /is not valid/,
    ],
    ["with two names", `${part(`${named}; name="b"`)}--b--`, /two 'name'/],
    ["with two dispositions", `${part(`${named}\r\n${named}`)}--b--`, /two Content-Disposition/],
    ["with a folded header", `${part(`${named};\r\n filename="b"`)}--b--`, /header line/],
    [
      "with base64 content",
      `${part(`${named}\r\nContent-Transfer-Encoding: base64`)}--b--`,
      /Transfer-Encoding/,
    ],
    [
      "with long headers",
      `${part(`${named}\r\nx: ${"x".repeat(8192)}`)}--b--`,
      /8192 bytes of headers/,
    ],
    [
      "with headers that aren't UTF-8",
      new Uint8Array([...bytes("--b\r\nx: "), 0xff, ...bytes("\r\n\r\n\r\n--b--")]),
      /not UTF-8/,
    ],
    [
      "with the name __proto__",
      `${part('Content-Disposition: form-data; name="__proto__"')}--b--`,
      /named '__proto__'/,
    ],
    [
      "with the name constructor",
      `${part("Content-Disposition: form-data; name=constructor")}--b--`,
      /not allowed/,
    ],
  ])("is refused %s", (_, body, message, contentType = type) => {
    const act = (): unknown => parse(body, contentType);
    expect(act).toThrow(BadRequest);
    expect(act).toThrow(message);
  });

  it("is refused with more parts than the limit, before the rest is read", () => {
    const body = bytes(`${part(named).repeat(3)}cut off`);
    expect(() => parseMultipart(body, type, { uploadParts: 2 })).toThrow(
      "More than 2 parts (limit 'uploadParts')",
    );
  });

  it.each([
    ["carriage returns", "\r"],
    ["beginnings of the delimiter", "\r\n--bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"],
    ["dashes", "-"],
    ["zeros", "\0"],
  ])("of 8 MiB of %s takes less than 500 ms", (_, unit) => {
    const boundary = "b".repeat(70);
    const content = unit.repeat(8_388_608 / unit.length);
    const body = bytes(`--${boundary}\r\n${named}\r\n\r\n${content}\r\n--${boundary}--`);
    const started = processorMs();
    const [first] = parse(body, `multipart/form-data; boundary=${boundary}`);
    expect(processorMs() - started).toBeLessThan(500);
    expect(first?.bytes.length).toBe(content.length);
  });
});

// Small and seeded: the same cases in every run.
function random(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    return Math.floor((state / 4_294_967_296) * below);
  };
}

describe("compared with the platform's own parser", () => {
  it("reads the same fields and files from 300 random forms that either writer wrote", async () => {
    const next = random(1);
    const pieces = [
      "a",
      "ü",
      '"',
      "\\",
      "\r\n",
      "--",
      "--b",
      "\r",
      "\n",
      "%22",
      ";",
      " ",
      "name=",
      "😀",
      "\0",
    ];
    const text = (most: number): string =>
      Array.from({ length: next(most) }, () => pieces[next(pieces.length)]).join("");
    for (let round = 0; round < 300; round++) {
      const data = new FormData();
      const entries: [string, string | File, string?][] = [];
      for (let count = next(5); count > 0; count--) {
        // The platform's writer and reader don't agree about backslashes and percent signs.
        const name = `n${text(4).replace(/[\\%\r\n"\0]/g, "")}`;
        const value = next(2) === 0 ? text(12).replace(/\r(?!\n)|(?<!\r)\n/g, "") : undefined;
        const file = new File([bytes(text(40))], `${text(3).replace(/[\\%\r\n"\0]/g, "")}.bin`, {
          type: "a/b",
        });
        data.append(name, value ?? file);
        entries.push(value === undefined ? [name, file, file.name] : [name, value]);
      }
      const expected = await Promise.all(
        [...data].map(async ([name, value]) =>
          typeof value === "string"
            ? [name, undefined, "", value]
            : [name, value.name, "a/b", await value.text()],
        ),
      );
      for (const body of [new Response(data), new Response(writeMultipart(entries))]) {
        const contentType = body.headers.get("content-type") ?? "";
        const copy = body.clone();
        expect(shown(parse(new Uint8Array(await body.arrayBuffer()), contentType))).toEqual(
          expected,
        );
        if (expected.length > 0)
          expect([...(await copy.formData())].map(([name]) => name)).toEqual(
            expected.map(([name]) => name),
          );
      }
    }
  });

  it("changed bytes make another form or a BadRequest, in 4,000 seeded mutations", async () => {
    const next = random(2);
    const original = bytes(
      `${part(named, "1")}${part('Content-Disposition: form-data; name="f"; filename="x"\r\nContent-Type: a/b', "two\r\n")}--b--\r\n`,
    );
    let refused = 0;
    for (let round = 0; round < 4_000; round++) {
      let body = original.slice(0, next(8) === 0 ? next(original.length) : undefined);
      for (let count = 1 + next(3); count > 0; count--) {
        const at = next(body.length + 1);
        if (next(2) === 0) body[at] = [13, 10, 45, 98, 34, 59, 92, 0, 255][next(9)] as number;
        else
          body = new Uint8Array([
            ...body.slice(0, at),
            ...original.slice(next(20), 20 + next(60)),
            ...body.slice(at),
          ]);
      }
      try {
        // No part overlaps another.
        let size = 0;
        for (const { bytes: content } of parse(body)) size += content.length;
        expect(size).toBeLessThan(body.length);
      } catch (thrown) {
        if (!(thrown instanceof BadRequest)) throw thrown;
        refused++;
      }
    }
    expect(refused).toBeGreaterThan(1_000);
  });
});
