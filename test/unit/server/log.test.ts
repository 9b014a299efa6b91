import { PassThrough } from "node:stream";

import { describe, expect, it } from "vitest";
import { createLog } from "../../../server/base/log.ts";

function lineFor(cause: unknown): string {
  let text = "";
  createLog({ err: { write: (line: string) => (text += line) }, env: {} }).error(
    "it failed",
    cause,
  );
  return text;
}

describe("a line of the log", () => {
  const foreign = "\u001b[2J\u0007\u007f\u0090\u009b31m\u2028\u202e\u2066 \r";
  const shown = "\\u001b[2J\\u0007\\u007f\\u0090\\u009b31m\\u2028\\u202e\\u2066 \\u000d";
  const lines = (format: "json" | "text", error: Error): string => {
    let text = "";
    const out = { write: (line: string) => (text += line) };
    const log = createLog({ format, out, err: out, env: {} });
    log.info(`info ${foreign}`, { event: "request", request: foreign });
    log.warn(`warn ${foreign}`);
    log.error(`error ${foreign}`, error);
    return text;
  };

  it.each(["text", "json"] as const)(
    "has control characters, C1 and marks of direction too, escaped, as %s",
    (format) => {
      const text = lines(format, new Error(foreign));
      expect(text.replaceAll(/[\t\n]/g, "")).not.toMatch(/[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]/u);
      if (format === "text") expect(text.split(shown)).toHaveLength(6);
      else {
        const [info, , error] = text
          .trim()
          .split("\n")
          .map((line) => JSON.parse(line) as Record<string, string>);
        expect([info?.["message"], info?.["request"]]).toEqual([`info ${foreign}`, foreign]);
        expect(error?.["error"]).toContain(foreign);
      }
    },
  );
});

describe("what is quoted in a log of text", () => {
  const forged = "no such sku\nwarning: the disk is full\n\nerror: out of memory";

  it("can't look like a line of its own: only true lines begin at the left", () => {
    let text = "";
    const out = { write: (line: string) => (text += line) };
    const log = createLog({ out, err: out, env: {} });
    log.info(`a ${forged}`);
    log.warn(`b ${forged}`);
    log.error("c", new Error(forged, { cause: new Error(forged) }));
    log.error("d", forged);
    const lines = text.split("\n").filter((line) => /^\S/.test(line));
    expect(lines).toEqual(["a no such sku", "warning: b no such sku", "error: c", "error: d"]);
    expect(text).toContain(
      "a no such sku\n  warning: the disk is full\n\n  error: out of memory\n",
    );
    expect(text).toContain("error: d\n  no such sku\n  warning: the disk is full\n");
  });
});

describe("a logged error", () => {
  it("has its stack and its causes", () => {
    const text = lineFor(new TypeError("outer", { cause: new RangeError("inner") }));
    expect(text).toMatch(
      /^error: it failed\n  TypeError: outer\n +at .*\n  caused by RangeError: inner\n/s,
    );
  });

  it("can be its own cause, or have thousands of causes", () => {
    const round = new Error("round");
    round.cause = round;
    expect(lineFor(round).match(/caused by/g)).toHaveLength(8);
    let deep = new Error("0");
    for (let level = 1; level < 5_000; level++) deep = new Error(String(level), { cause: deep });
    expect(lineFor(deep).match(/caused by/g)).toHaveLength(8);
  });

  it("an AggregateError is written with its entries, the first eight of them", () => {
    const entries = Array.from({ length: 10 }, (_, index) => new RangeError(`entry ${index}`));
    const line = lineFor(new AggregateError([...entries, "text"], "all failed"));
    expect(line.match(/with RangeError: entry \d\n/g)).toHaveLength(8);
    expect(line).toContain("\n  with 3 more");
  });

  const throwing = (): never => {
    throw new Error("not readable");
  };
  it.each([
    ["a getter", Object.defineProperty(new Error("x"), "stack", { get: throwing })],
    ["a cause", Object.defineProperty(new Error("x"), "cause", { get: throwing })],
    ["a proxy", new Proxy(new Error("x"), { get: throwing })],
    ["a prototype", new Proxy({}, { getPrototypeOf: throwing })],
    ["no text", Object.create(null)],
  ])("can throw when it is read, from %s", (_, cause) => {
    expect(lineFor(cause)).toBe("error: it failed\n  the thrown value can't be read\n");
  });
});

describe("a log that nobody reads", () => {
  it("drops lines when a MiB of them waits, and says how many when they are read", async () => {
    const out = new PassThrough({ highWaterMark: 1_024 });
    const log = createLog({ out, err: out, env: {} });
    const line = "x".repeat(999);
    for (let at = 0; at < 2_000; at++) log.info(line);
    log.warn("dropped, too");
    expect(out.writableLength + out.readableLength).toBeLessThan(1_060_000);
    const read = async (): Promise<string[]> => {
      let text = "";
      for (;;) {
        const part = out.read() as Buffer | null;
        if (part !== null) text += part.toString();
        else if (out.writableLength === 0) return text.split("\n").slice(0, -1);
        await new Promise((turn) => setImmediate(turn));
      }
    };
    const first = await read();
    const kept = first.filter((each) => each === line).length;
    expect(kept).toBeGreaterThan(1_000);
    expect(first.slice(kept)).toEqual([
      `warning: ${2_000 - kept} lines are missing here: the log wasn't being read`,
      "warning: a line is missing here: the log wasn't being read",
    ]);
    log.info("on");
    expect(await read()).toEqual(["on"]);
  });
});
