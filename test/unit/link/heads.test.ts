import fc from "fast-check";
import { describe, expect, it } from "vitest";

import {
  answerHead,
  callHead,
  readAnswerHead,
  readCallHead,
  SameFields,
} from "../../../src/link/heads.ts";

const text = fc
  .string({ unit: "binary-ascii" })
  .map((value) => value.replace(/[^\t\x20-\x7e]/g, ""));
const name = fc.stringMatching(/^[a-z][a-z-]{0,20}$/).filter((field) => field !== "set-cookie");
const fields = fc.dictionary(name, text, { noNullPrototype: true });

describe("heads of calls and answers", () => {
  it("are read as they were written", () => {
    fc.assert(
      fc.property(text, fields, fc.array(text, { maxLength: 3 }), (path, some, cookies) => {
        const headers = cookies.length > 0 ? { ...some, "set-cookie": cookies } : some;
        const call = { method: "PATCH", target: `/${path}`, headers };
        expect({ ...readCallHead(callHead(call)).headers }).toEqual({ ...headers });
        expect(readCallHead(callHead(call)).target).toBe(call.target);
        const answer = { status: 207, headers };
        expect({ ...readAnswerHead(answerHead(answer)).headers }).toEqual({ ...headers });
      }),
    );
  });

  it("have no fields that every object has", () => {
    const { headers } = readCallHead("GET\n/\nx-a\n1");
    for (const inherited of ["constructor", "toString", "hasOwnProperty", "__proto__", "valueOf"])
      expect(headers[inherited]).toBeUndefined();
    expect(readCallHead("GET\n/\nconstructor\nx").headers["constructor"]).toBe("x");
  });

  it.each([
    ["GET\n/\nx-a", "A header field without a value"],
    ["GET\n/\n__proto__\nx", "Invalid header name '__proto__'"],
    ["get\n/", "A call without a method and a path"],
    ["GET", "A call without a method and a path"],
    ["GET\nhttp://elsewhere/", "A call without a method and a path"],
    ["", "A call without a method and a path"],
  ])("that make no sense end the link: %j", (head, message) => {
    expect(() => readCallHead(head)).toThrow(message);
  });

  it.each(["", "0", "99", "100", "101", "199", "600", "2000", "200.5", "2e2", "-200", "abc\nx\ny"])(
    "of answers have a status: %j",
    (head) => {
      expect(() => readAnswerHead(head)).toThrow("the status ");
    },
  );

  it("of answers that come again have the same fields, which nobody can change", () => {
    const [a, b] = ["200\nx-a\n1", "200\nx-a\n2"];
    expect(Object.isFrozen(readAnswerHead(a).headers)).toBe(false);
    const { headers } = readAnswerHead(a);
    expect(readAnswerHead(a).headers).toBe(headers);
    expect(() => Object.assign(headers, { "x-a": "3" })).toThrow(TypeError);
    expect(readAnswerHead(b)).toMatchObject({ status: 200, headers: { "x-a": "2" } });
    expect(readAnswerHead(a)).toMatchObject({ status: 200, headers: { "x-a": "1" } });
    const long = `200\nx-a\n${"x".repeat(1_000)}`;
    expect(readAnswerHead(long).headers).not.toBe(readAnswerHead(long).headers);
  });

  it("are made once of frozen fields, and each time of others", () => {
    const lines = new SameFields<number>();
    let made = 0;
    const make = (): number => ++made;
    const frozen = Array.from({ length: 9 }, (_, at) => Object.freeze({ "x-a": String(at) }));
    for (let round = 0; round < 2; round++)
      for (const each of frozen.slice(0, 8)) lines.of(each, make);
    expect(made).toBe(8);
    expect([lines.of(frozen[8]!, make), lines.of(frozen[0]!, make)]).toEqual([9, 10]);
    const loose = { "x-a": "1" };
    expect([lines.of(loose, make), lines.of(loose, make)]).toEqual([11, 12]);
  });

  it.each([
    [{ "x-a": "1\nx-b: 2" }, "a line break"],
    [{ "x-a": "x".repeat(60_000) }, "60000"],
  ])("that no frame can hold are refused before anything is sent: %#", (headers, message) => {
    expect(() => callHead({ method: "GET", target: "/", headers })).toThrow(message);
    expect(() => answerHead({ status: 200, headers })).toThrow(message);
  });
});
