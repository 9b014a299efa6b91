import { describe, expect, it } from "vitest";
import { ProcedureNotFound } from "../../../../src/base/errors.ts";
import { createLog, logFormat, type LogOptions } from "../../../../server/base/log.ts";
import { stackOf, withoutOwnFrames } from "../../../../server/base/stacks.ts";
import { packageFolder } from "../../../../server/base/package-folder.ts";

function written(options: LogOptions, write: (log: ReturnType<typeof createLog>) => void): string {
  let text = "";
  const out = { write: (line: string) => (text += line), isTTY: options.out?.isTTY === true };
  const now = (): Date => new Date("2026-03-04T05:06:07.089Z");
  write(createLog({ ...options, out, err: out, env: {}, now }));
  return text;
}

describe("the format of a log", () => {
  it.each([
    [true, {}, "text"],
    [false, {}, "json"],
    [undefined, {}, "json"],
    [true, { SEAMLINE_LOG: "json" }, "json"],
    [false, { SEAMLINE_LOG: "text" }, "text"],
    [false, { SEAMLINE_LOG: "" }, "json"],
  ])("on a terminal: %s, with %o, is %s", (isTTY, env, format) => {
    expect(logFormat({ write: () => {}, ...(isTTY !== undefined && { isTTY }) }, env)).toBe(format);
  });

  it("that the environment misspells is an error that names the variable", () => {
    expect(() => logFormat({ write: () => {} }, { SEAMLINE_LOG: "JSON" })).toThrow(
      'The environment variable SEAMLINE_LOG is "JSON"; expected "json" or "text"',
    );
  });
});

describe("a line of JSON", () => {
  const json = { format: "json", role: "node", node: "a" } as const;

  it("has time, level, role, node and message first, then what it is about", () => {
    const text = written(json, (log) =>
      log.info("POST /rpc/a 200", { request: "r1", trace: "t1", procedure: "a", ms: 1.5 }),
    );
    expect(text).toBe(
      '{"time":"2026-03-04T05:06:07.089Z","level":"info","role":"node","node":"a","message":"POST /rpc/a 200","request":"r1","trace":"t1","procedure":"a","ms":1.5}\n',
    );
  });

  it("has the stack of an error as one string, with causes", () => {
    const cause = new Error("outer", { cause: new RangeError("inner\nline") });
    const text = written(json, (log) => log.error("failed", cause, { procedure: "a" }));
    expect(text.match(/\n/g)).toHaveLength(1);
    const line = JSON.parse(text) as Record<string, string>;
    expect(line).toMatchObject({ level: "error", message: "failed", procedure: "a" });
    expect(line["error"]).toMatch(/^Error: outer\n.*caused by RangeError: inner\nline/s);
  });

  it("can't be broken in two by what it quotes", () => {
    const text = written(json, (log) => log.warn('a "quote"\n{"level":"error"}\u2028'));
    expect(text.split("\n")).toHaveLength(2);
    expect(JSON.parse(text)).toMatchObject({ message: 'a "quote"\n{"level":"error"}\u2028' });
  });
});

describe("a line on a terminal", () => {
  it("has the time, the role and the name of the service before its text", () => {
    const terminal = { write: () => {}, isTTY: true };
    const text = written({ role: "node", node: "a", out: terminal }, (log) =>
      log.info("joined", { request: "r1", trace: "t1" }),
    );
    // oxlint-disable-next-line no-control-regex -- colours
    expect(text.replaceAll(/\u001B\[\d+m/g, "")).toMatch(
      /^\d\d:06:07 node a joined \(request r1, trace t1\)\n$/,
    );
  });

  it("has no time where no terminal is", () => {
    expect(written({ role: "node", node: "a" }, (log) => log.warn("old"))).toBe("warning: old\n");
  });
});

describe("a stack in the log", () => {
  const own = `    at Object.run (file://${packageFolder}/dist/chunks/core.js:1:2)`;
  const application = "    at quote (file:///app/src/shop/quote.ts:4:7)";

  it("has the application's frames, and not ours or Node's", () => {
    const stack = [
      "Error: no room",
      application,
      own,
      "    at process.processTicksAndRejections (node:internal/process/task_queues:105:5)",
      `    at async file://${packageFolder}/dist/node.js:3:4`,
      "    at async Promise.all (index 0)",
      "    at file:///app/node_modules/pg/lib/client.js:9:9",
    ].join("\n");
    expect(withoutOwnFrames(stack)).toBe(
      ["Error: no room", application, "    at file:///app/node_modules/pg/lib/client.js:9:9"].join(
        "\n",
      ),
    );
  });

  it("keeps ours if there are no others", () => {
    const stack = `Error: broken\n${own}\n    at node:net:1:1`;
    expect(withoutOwnFrames(stack)).toBe(stack);
  });

  it("has none of ours for an error of the runtime, or for one that a cause explains", () => {
    const broken = (error: Error): Error => Object.assign(error, { stack: `${error}\n${own}` });
    expect(stackOf(broken(new ProcedureNotFound("no a")))).toBe("ProcedureNotFound: no a");
    const cause = new Error("gone", { cause: "x" });
    cause.stack = `Error: gone\n${application}`;
    expect(stackOf(broken(new Error("it broke", { cause })))).toBe(
      `Error: it broke\ncaused by Error: gone\n${application}\ncaused by x`,
    );
  });

  it("has the names of procedures, without the class of our contexts", () => {
    const frames = [
      "    at async CallContext.quote (/app/a.ts:1:1)",
      "    at CallContext.b (/b.ts:2:2)",
    ];
    expect(withoutOwnFrames(["Error: no", ...frames].join("\n"))).toBe(
      "Error: no\n    at async quote (/app/a.ts:1:1)\n    at b (/b.ts:2:2)",
    );
  });

  it("has none of ours from a package in another place", () => {
    const far = "    at send (file:///srv/node_modules/seamline/dist/chunks/core.js:1:2)";
    expect(withoutOwnFrames(`Error: late\n${application}\n${far}`)).toBe(
      `Error: late\n${application}`,
    );
  });

  it("keeps lines of the message that look like nothing", () => {
    expect(withoutOwnFrames(`Error: two\nlines\n${application}\n${own}`)).toBe(
      `Error: two\nlines\n${application}`,
    );
  });
});
