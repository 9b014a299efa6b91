// The output of `seamline dev` for people and for programs.

import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { ValueNotSerializable } from "../../../src/base/errors.ts";
import { setTrace } from "../../../src/base/trace.ts";
import type { DevEvent, DevSession } from "../../../server/dev/session.ts";
import { showAsJson } from "../../../server/dev/json-lines.ts";
import { showInTerminal } from "../../../server/dev/show-in-terminal.ts";
import { fakeSession, fakeTerminal, node, procedure } from "./_dev-session.ts";

let root: string;

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), "dev-terminal-"));
});

afterEach(async () => {
  await rm(root, { recursive: true, force: true });
});

function show(
  options: {
    session?: Partial<DevSession>;
    isTTY?: boolean;
    env?: Record<string, string>;
  } = {},
) {
  const session = fakeSession({ watched: [root, join(root, "src")], ...options.session });
  const terminal = fakeTerminal({ isTTY: false, ...options });
  const shows = showInTerminal(terminal, { root, version: "1.2.3", stop: () => {} });
  shows.start(session, { ms: 412.4 });
  const first = terminal.seen();
  /** The output after the first screen. */
  const after = (): string => terminal.seen().slice(first.length);
  return { session, terminal, shows, first, after };
}

describe("the first screen of `seamline dev`", () => {
  it("the first screen shows addresses, segments and procedures", () => {
    const { first } = show();
    expect(first).toBe(`
Seamline 1.2.3 is ready after 412 ms

  Page       http://localhost:5173/
  Console    http://localhost:5173/svc/console#token=abc

  Segment  Where                 Procedures
  orders   node orders                    2
  stock    node stock (stopped)           1
  ui       page                           1

  Public     shop/quote, view/draw
  Protected  shop/left
  Private    shop/total

  Watching   ., ./src

`);
  });

  it("the first screen counts routes, and lists them by method and path", () => {
    const feed = { ...procedure("shop/feed", "orders"), route: "GET /feed.xml" };
    const procedures = [procedure("shop/quote", "orders"), feed];
    const lines = show({ session: { procedures: () => procedures } }).first.split("\n");
    expect(lines.slice(6, 11)).toEqual([
      "  Segment  Where                 Procedures  Routes",
      "  orders   node orders                    1       1",
      "  stock    node stock (stopped)           0       0",
      "",
      "  Public     GET /feed.xml, shop/quote",
    ]);
  });

  it("the first screen lists the keys only if there is a keyboard", () => {
    expect(show({ isTTY: true }).first).toContain("o open   c console   h help   q quit");
    expect(show().first).not.toContain("quit");
  });

  it("output has colours at a terminal, but not with NO_COLOR or in a pipe", () => {
    expect(show({ isTTY: true }).terminal.raw()).toContain("\u001B[1mSeamline");
    for (const options of [{ isTTY: true, env: { NO_COLOR: "1" } }, { isTTY: false }])
      // oxlint-disable-next-line no-control-regex
      expect(show(options).terminal.raw()).not.toMatch(/\u001B\[[\d;]*m/);
    const { session, terminal } = show();
    session.emit({
      kind: "node",
      node: "orders",
      state: "failed",
      why: "\u001B[31m[PARSE_ERROR]\u001B[0m no",
    });
    expect(terminal.raw()).toContain("error: node orders can't start: [PARSE_ERROR] no\n");
  });

  it("the first screen explains an application without segments", () => {
    const { first } = show({
      session: { nodes: () => [], procedures: () => [], consoleUrl: () => undefined },
    });
    expect(first).toContain(
      "There is no segment file yet, so every function runs where it is called.",
    );
    expect(first).not.toContain("Console");
  });

  it("the first screen of an application that can't be read doesn't claim that it has no segments", () => {
    const { first } = show({ session: { isRead: false, nodes: () => [], procedures: () => [] } });
    expect(first).toContain("Nothing runs yet: fix the problems below to start.");
    expect(first).not.toContain("No segment file");
  });

  it("the first screen stays short with 2,000 procedures in 100 segments", () => {
    const name = (index: number) => `warehouse-${index}`;
    const nodes = Array.from({ length: 100 }, (_, index) => node(name(index), { procedures: 20 }));
    const procedures = Array.from({ length: 2_000 }, (_, index) =>
      procedure(`${name(index % 100)}/procedure${index}`, name(index % 100), {
        nodes: [name(index % 100)],
        segments: index < 100 ? [name(index), name(0)] : [name(index % 100)],
      }),
    );
    const { first } = show({ session: { nodes: () => nodes, procedures: () => procedures } });
    expect(first.split("\n").length).toBeLessThan(30);
    expect(first).toContain("and 88 segments more");
    expect(first).toMatch(/Public +warehouse-0\/procedure0, .* and 1,992 more\n/);
    // The largest segment is shown.
    expect(first).toMatch(/warehouse-0 .* 120\n/);
  });
});

describe("events in the terminal", () => {
  const cases: readonly (readonly [DevEvent, string])[] = [
    [
      {
        kind: "replaced",
        procedures: ["orders/quote"],
        where: ["orders", "page"],
        ms: 12.3,
        file: "src/orders/quote.ts",
      },
      "replaced orders/quote on node orders and in the page, 12 ms; its own state starts anew",
    ],
    [
      {
        kind: "replaced",
        procedures: ["a", "b", "c", "d", "e"],
        where: ["x", "y"],
        ms: 1_234,
        file: "src/a.ts",
      },
      "replaced a, b and 3 more procedures on nodes x and y, 1.2 s; their own state starts anew",
    ],
    [
      { kind: "replaced", procedures: ["a"], where: [], ms: 1, file: "src/a.ts" },
      "replaced a, which runs nowhere now, 1 ms; its own state starts anew",
    ],
    [
      { kind: "reloaded", file: "src/prices.ts", where: ["page"], ms: 7 },
      "reloaded src/prices.ts in the page, 7 ms",
    ],
    [
      {
        kind: "moved",
        procedures: [{ fqn: "orders/quote", from: ["orders"], to: ["page"] }],
        ms: 18,
      },
      "moved orders/quote from node orders to the page, 18 ms",
    ],
    [
      {
        kind: "moved",
        procedures: [
          { fqn: "a", from: ["x"], to: ["x", "page"] },
          { fqn: "b", from: [], to: ["y"] },
          { fqn: "c", from: ["x", "y"], to: ["y"] },
          { fqn: "d", from: ["x"], to: ["x"] },
          { fqn: "e", from: ["x", "y"], to: ["y"] },
        ],
        ms: 18,
      },
      "added a to the page, 18 ms\nadded b to node y, 18 ms\nremoved c and e from node x, 18 ms",
    ],
    [{ kind: "node", node: "orders", state: "ready" }, "node orders is ready"],
    [{ kind: "node", node: "orders", state: "stopped" }, "node orders is stopped"],
    [
      { kind: "node", node: "orders", state: "failed", why: "no such module" },
      "error: node orders can't start: no such module",
    ],
    [
      {
        kind: "node",
        node: "orders",
        state: "failed",
        why: "no",
        error: Object.assign(new RangeError("no"), { stack: "RangeError: no" }),
      },
      "error: node orders can't start: RangeError: no",
    ],
    [
      { kind: "node", node: "orders", state: "starting", why: "src/a.ts changed" },
      "node orders restarts: src/a.ts changed",
    ],
    [{ kind: "node", node: "orders", state: "starting" }, ""],
    [{ kind: "mended" }, "mended: no problem is left"],
    [
      { kind: "warning", problem: { file: "src/a.ts", message: "careful" } },
      "warning: src/a.ts: careful",
    ],
  ];

  it.each(cases)("the event %j is printed as one line", (event, line) => {
    const { session, after } = show();
    session.emit(event);
    expect(after()).toBe(line === "" ? "" : `${line}\n`);
  });

  it("problems that a change leaves are named again in plain lines", () => {
    const { session, after } = show();
    const problem = (index: number) => ({
      file: `src/${index}.ts`,
      line: 1,
      column: 2,
      message: "no",
      hint: "Write it.",
      frame: "> 1 | x",
    });
    session.emit({ kind: "unsolved", problems: [problem(1)] });
    session.emit({
      kind: "unsolved",
      problems: Array.from({ length: 10 }, (_, index) => problem(index)),
    });
    expect(after()).toBe(
      [
        "1 problem left: src/1.ts:1:2: no",
        "10 problems left:",
        ...Array.from({ length: 8 }, (_, index) => `  src/${index}.ts:1:2: no`),
        "  2 more problems",
        "",
      ].join("\n"),
    );
  });
});

describe("problems in the terminal", () => {
  it("a problem is printed with a marker in its source and a hint", async () => {
    await writeFile(
      join(root, "orders.segment.json"),
      '{\n  "./orders/quote": {\n    "quote": { "access": "publik" }\n  }\n}\n',
    );
    const { session, after } = show();
    session.emit({
      kind: "problems",
      problems: [
        {
          file: "orders.segment.json",
          line: 3,
          column: 16,
          message: 'expected "public"',
          hint: 'Did you mean "public"?',
        },
        { file: "src/gone.ts", line: 1, column: 1, message: "is no longer there" },
      ],
    });
    expect(after()).toBe(`error: orders.segment.json:3:16: expected "public"
  1 | {
  2 |   "./orders/quote": {
> 3 |     "quote": { "access": "publik" }
    |                ^
  4 |   }
  → Did you mean "public"?
error: src/gone.ts:1:1: is no longer there
2 problems: what ran before keeps running
`);
  });

  it("problems of an application that has never run say that it starts when they are fixed", () => {
    const nodes = () => [node("orders", { state: "failed" })];
    const { session, after } = show({ session: { nodes } });
    session.emit({ kind: "problems", problems: [{ file: "src/a.ts", message: "no" }] });
    expect(after()).toBe("error: src/a.ts: no\n1 problem: it starts when it is fixed\n");
  });

  it("an error of the runtime that no line of the application leads to has no frames", () => {
    const { session, after } = show();
    const error = new ValueNotSerializable("result.a: a function can't be sent");
    error.stack = `ValueNotSerializable: ${error.message}\n    at encode (node:internal/only:1:1)`;
    session.emit({ kind: "failed", fqn: "shop/quote", node: "orders", error });
    expect(after()).toBe(
      "error: shop/quote failed on node orders: ValueNotSerializable: result.a: a function can't be sent\n",
    );
  });

  it("problems that stop nothing say that everything else runs", () => {
    const { session, after } = show();
    session.emit({
      kind: "problems",
      problems: [{ file: "src/a.ts", message: "no" }],
      isLive: true,
    });
    expect(after()).toBe("error: src/a.ts: no\n1 problem: everything else runs as it is written\n");
  });

  it("at most eight problems are printed, and the others are counted", () => {
    const { session, after } = show();
    const problems = Array.from({ length: 200 }, (_, index) => ({
      file: `src/${index}.ts`,
      message: "no",
    }));
    session.emit({ kind: "problems", problems });
    expect(after().match(/^error: src/gm)).toHaveLength(8);
    expect(after()).toContain("192 more problems");
  });
});

describe("a failed procedure in the terminal", () => {
  function failure(): Error {
    const error = new RangeError("No such sku", { cause: new Error("deeper") });
    error.stack = [
      "RangeError: No such sku",
      `    at quote (file://${root}/src/shop/quote.ts:12:9)`,
      `    at async total (${root}/src/shop/total.ts:3:11)`,
      "    at process.processTicksAndRejections (node:internal/process/task_queues:95:5)",
      `    at dispatch (${root}/node_modules/seamline/dist/main.js:1:2)`,
    ].join("\n");
    (error.cause as Error).stack = "Error: deeper\n    at node:internal/only:1:1";
    setTrace(error, ["[shop/quote | v0.0.0]", "[shop/total | v0.0.0]"]);
    return error;
  }

  it("a failed procedure is printed with its place in the sources, its causes and its trace", () => {
    const { session, after } = show();
    session.emit({ kind: "failed", fqn: "shop/quote", node: "orders", error: failure() });
    expect(after()).toBe(`error: shop/quote failed on node orders: RangeError: No such sku
      at quote (src/shop/quote.ts:12:9)
      at async total (src/shop/total.ts:3:11)
  caused by Error: deeper
      at node:internal/only:1:1
    [shop/quote | v0.0.0]
    [shop/total | v0.0.0]
`);
  });

  it("failures in a page are printed, whatever was thrown", () => {
    const { session, after } = show();
    const unreadable = {
      toString: () => {
        throw new Error("no");
      },
    };
    for (const error of ["text\nerror: forged", "\u001B[2Jtext", unreadable])
      session.emit({ kind: "failed", fqn: "a", node: "page", error });
    expect(after()).toBe(
      "error: a failed in the page: text\n  error: forged\nerror: a failed in the page: text\nerror: a failed in the page: the thrown value can't be read\n",
    );
  });
});

describe("events before the first listener", () => {
  it("earlier events are printed, except that nodes are ready, which the first screen shows", () => {
    const early: DevEvent[] = [
      { kind: "node", node: "orders", state: "ready" },
      { kind: "node", node: "stock", state: "failed", why: "no" },
      { kind: "warning", problem: { file: "src/a.ts", message: "careful" } },
    ];
    const { first } = show({
      session: {
        on: (listener) => {
          for (const event of early) listener(event);
          return () => {};
        },
      },
    });
    expect(first).toMatch(
      /Watching.*\n\nerror: node stock can't start: no\nwarning: src\/a\.ts: careful\n$/,
    );
  });
});

describe("log lines in the terminal", () => {
  it("log lines are printed with their level, and errors with their place", () => {
    const { shows, after } = show();
    shows.log.info("one");
    shows.log.warn("two");
    shows.log.error("three");
    const error = new Error("deep");
    error.stack = `Error: deep\n    at f (${root}/src/a.ts:1:2)`;
    shows.log.error("four", error);
    expect(after()).toBe(
      "one\nwarning: two\nerror: three\nerror: four: Error: deep\n      at f (src/a.ts:1:2)\n",
    );
  });
});

describe("`seamline dev` for programs", () => {
  it("each line on standard output is a JSON object, and the application's output goes to standard error", () => {
    const out: string[] = [];
    const err: string[] = [];
    const terminal = {
      stdout: { write: (text: string) => out.push(text) },
      stderr: { write: (text: string) => err.push(text) },
      env: {},
    };
    const { write } = terminal.stdout;
    const session = fakeSession();
    const shows = showAsJson(terminal, { version: "1.2.3" });
    shows.log.warn("careful");
    shows.start(session, { ms: 412.4 });
    terminal.stdout.write("hello from a procedure\n");
    session.emit({
      kind: "node",
      node: "orders",
      state: "stopped",
      why: "\u001B[31mkilled\u001B[0m",
    });
    session.emit({ kind: "failed", fqn: "a", node: "orders", error: new RangeError("no") });
    session.emit({ kind: "failed", fqn: "a", node: "orders", error: "text" });
    shows.close();
    session.emit({ kind: "mended" });
    expect(err).toEqual(["hello from a procedure\n"]);
    expect(terminal.stdout.write).toBe(write);
    expect(out.every((line) => line.endsWith("}\n"))).toBe(true);
    expect(out.map((line) => JSON.parse(line) as unknown)).toEqual([
      { event: "log", level: "warn", text: "careful" },
      {
        event: "ready",
        version: "1.2.3",
        ms: 412,
        url: session.url,
        console: session.consoleUrl(),
        watched: session.watched,
        nodes: session.nodes(),
        procedures: session.procedures(),
      },
      { event: "node", node: "orders", state: "stopped", why: "killed" },
      {
        event: "failed",
        fqn: "a",
        node: "orders",
        error: { name: "RangeError", message: "no", stack: expect.any(String), trace: [] },
      },
      { event: "failed", fqn: "a", node: "orders", error: { message: "text" } },
      { event: "stopped" },
    ]);
  });
});
