// The keys of `seamline dev`: what each asks, and does.

import { describe, expect, it, vi } from "vitest";
import { setRanOn, setTrace } from "../../../src/trace.ts";
import type { DevSession } from "../../../server/dev/session.ts";
import { showInTerminal } from "../../../server/dev/terminal/show.ts";
import { fakeSession, fakeTerminal, node, plain, procedure } from "./_dev-session.ts";

function show({
  session: given,
  columns = 80,
  open = async () => {},
}: {
  session?: Partial<DevSession>;
  columns?: number;
  open?: (url: string) => Promise<void>;
} = {}) {
  const session = fakeSession(given);
  const terminal = fakeTerminal({ columns });
  const stop = vi.fn<() => void>();
  const shows = showInTerminal(terminal, { root: "/app", version: "1.2.3", stop, open });
  shows.start(session, { ms: 412 });
  const first = terminal.seen();
  return { session, terminal, shows, stop, after: () => terminal.seen().slice(first.length) };
}

describe("c", () => {
  it("asks for a procedure, completes its name, asks for its arguments one after the other, and calls", async () => {
    const { session, terminal, after } = show();
    await terminal.type("c");
    expect(after()).toBe(
      "Call which procedure: \n› shop/left\n  shop/quote\n  shop/total\n  view/draw",
    );
    await terminal.type("q");
    // What has the letter somewhere, too.
    expect(after()).toBe("Call which procedure: q\n› shop/quote");
    await terminal.type("backspace", "sh");
    await terminal.type("tab");
    expect(after()).toContain("Call which procedure: shop/\n");
    await terminal.type("qu", "tab");
    expect(after()).toBe("Call which procedure: shop/quote\n› shop/quote");
    await terminal.type("enter");
    expect(after()).toBe("sku (number): ");
    await terminal.type("many", "enter");
    expect(after()).toBe("sku (number): many\n  parameter 'sku' must be a number");
    await terminal.type("ctrl-w", "42", "enter");
    expect(after()).toBe("note (text or JSON, may be left empty): ");
    await terminal.type("enter");
    expect(session.done).toEqual([["call", "shop/quote", { sku: 42 }, "0.0.0"]]);
    expect(after()).toBe("shop/quote(sku: 42) gave { price: 12 } on node orders, 3 ms\n");
  });

  it("offers again what was answered before", async () => {
    const { session, terminal, after } = show();
    await terminal.type("c", "shop/quote", "enter", "42", "enter", "hello", "enter");
    await terminal.type("c", "shop/quote", "enter");
    expect(after()).toMatch(/sku \(number\): 42$/);
    await terminal.type("0", "enter", "ctrl-a", "oh ", "enter");
    expect(session.done.map((call) => call[2])).toEqual([
      { sku: 42, note: "hello" },
      { sku: 420, note: "oh hello" },
    ]);
  });

  it("takes values of every kind of parameter", async () => {
    const parameters = [
      plain("any"),
      plain("yes", { type: "boolean" }),
      plain("big", { type: "bigint" }),
      plain("day", { type: "Date" }),
      plain("numbers", { type: "number[]" }),
      plain("words", { type: "string[]" }),
      { kind: "object", names: [{ name: "inner" }] },
      { kind: "array", names: [null, { name: "second", type: "number" }], optional: true },
      { kind: "rest", name: "others" },
    ] as const;
    const { session, terminal } = show({
      session: { procedures: () => [procedure("f", "orders", { parameters })] },
    });
    await terminal.type("c", "enter");
    for (const text of [
      '{"a": [1]}',
      "true",
      "12",
      "2026-11-23",
      "1, 2",
      '["a,b"]',
      "just text",
      "",
      "[1, {}]",
    ])
      await terminal.type(text, "enter");
    expect(session.done).toEqual([
      [
        "call",
        "f",
        {
          any: { a: [1] },
          yes: true,
          big: 12n,
          day: new Date("2026-11-23"),
          numbers: [1, 2],
          words: ["a,b"],
          inner: "just text",
          "...others": [1, {}],
        },
        "0.0.0",
      ],
    ]);
  });

  it.each([
    [plain("a"), "{x", "that is no JSON"],
    [
      plain("a", { type: "number[]" }),
      "1, x",
      "parameter 'a' must be a list of which each is a number",
    ],
    [{ kind: "rest", name: "a" } as const, "1", "that is no array"],
  ])("says what is wrong with a text: %j, %s", async (parameter, text, message) => {
    const { session, terminal, after } = show({
      session: { procedures: () => [procedure("f", "orders", { parameters: [parameter] })] },
    });
    await terminal.type("c", "enter", text, "enter");
    expect(after()).toContain(message);
    expect(session.done).toEqual([]);
  });

  it("asks for the version where there are several", async () => {
    const procedures = ["1.0.0", "2.0.0"].map((version) => procedure("f", "orders", { version }));
    const { session, terminal, after } = show({ session: { procedures: () => procedures } });
    await terminal.type("c", "enter");
    expect(after()).toBe("Version of f: \n› 1  1.0.0  (public)\n  2  2.0.0  (public)");
    await terminal.type("2");
    expect(session.done).toEqual([["call", "f", {}, "2.0.0"]]);
  });

  it("tells an error as it is, where it ran, and the way it came", async () => {
    const error = new RangeError("No such sku");
    error.stack = "RangeError: No such sku\n    at f (/app/src/f.ts:1:2)";
    setTrace(error, ["[f | v0.0.0]"]);
    setRanOn(error, "orders");
    const { terminal, after } = show({
      session: {
        procedures: () => [procedure("f", "orders")],
        call: async () => await Promise.reject(error),
      },
    });
    await terminal.type("c", "enter");
    expect(after()).toBe(
      "f() failed on node orders: RangeError: No such sku\n    at f (src/f.ts:1:2)\n    [f | v0.0.0]\n",
    );
  });

  it("refuses a name that is none", async () => {
    const { terminal, after } = show();
    await terminal.type("c", "nonsense", "enter");
    expect(after()).toBe('Call which procedure: nonsense\n  there is no procedure "nonsense"');
  });

  it("shows a few of 2,000 procedures, chosen by arrows", async () => {
    const procedures = Array.from({ length: 2_000 }, (_, index) =>
      procedure(`shop/p${index + 1000}`, "orders"),
    );
    const { session, terminal, after } = show({ session: { procedures: () => procedures } });
    await terminal.type("c");
    expect(after().split("\n")).toHaveLength(10);
    expect(after()).toContain("  1,992 more");
    await terminal.type("down", "down", "up", "enter");
    expect(session.done[0]?.[1]).toBe("shop/p1001");
  });

  it("has nothing to ask of an application without procedures", async () => {
    const { terminal, after } = show({ session: { procedures: () => [] } });
    await terminal.type("c", "m");
    expect(after()).toBe("There is no procedure yet: a segment file names them. ×2\n");
  });
});

describe("Esc", () => {
  it.each([
    ["c", []],
    ["c", ["shop/quote", "enter"]],
    ["k", []],
    ["m", []],
    ["m", ["shop/quote", "enter"]],
  ])("goes back from %s %j, and nothing was done", async (key, more) => {
    const { session, terminal, after } = show();
    await terminal.type(key, ...more, "escape");
    // Alone it is known for one only when nothing has followed it for a moment.
    await vi.waitFor(() => expect(after()).toBe(""));
    expect(session.done).toEqual([]);
    await terminal.type("k");
    expect(after()).toContain("Kill or start a node");
  });
});

describe("k", () => {
  it("kills a node that runs and starts one that doesn't, by number", async () => {
    const { session, terminal, after } = show();
    await terminal.type("k");
    expect(after()).toBe(
      "Kill or start a node: \n› 1  kill orders  (2 procedures)\n  2  start stock  (1 procedure, stopped)",
    );
    await terminal.type("2", "k", "1", "k", "down", "enter");
    expect(session.done).toEqual([
      ["start", "stock"],
      ["kill", "orders"],
      ["start", "stock"],
    ]);
  });

  it("takes numbers of two digits where there are so many, and none that is not there", async () => {
    const nodes = Array.from({ length: 12 }, (_, index) => node(`n${index + 1}`));
    const { session, terminal, after } = show({ session: { nodes: () => nodes } });
    await terminal.type("k", "1");
    expect(after()).toMatch(/node: 1\n/);
    await terminal.type("9");
    await terminal.type("2");
    await terminal.type("k", "1", "enter");
    await terminal.type("k", "5");
    expect(session.done).toEqual([
      ["kill", "n12"],
      ["kill", "n1"],
      ["kill", "n5"],
    ]);
  });

  it("says what didn't work, and that there is no node", async () => {
    const { terminal, after } = show({
      session: { kill: async () => await Promise.reject(new Error("it is the last one")) },
    });
    await terminal.type("k", "1");
    expect(after()).toBe("error: can't kill node orders: it is the last one\n");
    const without = show({ session: { nodes: () => [] } });
    await without.terminal.type("k");
    expect(without.after()).toBe("There is no node: no segment is for servers.\n");
  });
});

describe("m", () => {
  it("moves a procedure to another segment", async () => {
    const { session, terminal, after } = show();
    await terminal.type("m", "shop/q", "enter");
    expect(after()).toBe(
      "Move shop/quote from orders to: \n› 1  stock  (node stock)\n  2  ui  (page)\n  3  a new segment",
    );
    await terminal.type("2");
    expect(session.done).toEqual([["move", "shop/quote", "ui"]]);
  });

  it("moves it to a segment that is new", async () => {
    const { session, terminal, after } = show({
      session: { nodes: () => [node("orders")], procedures: () => [procedure("f", "orders")] },
    });
    await terminal.type("m", "enter", "1");
    expect(after()).toBe("Its name (NAME.segment.json will be its file): ");
    await terminal.type("orders", "enter");
    expect(after()).toContain('"orders" is there already');
    await terminal.type("ctrl-w", "../x", "enter");
    expect(after()).toContain("letters, digits, - and _ make a name");
    await terminal.type("ctrl-w", "stock", "enter");
    expect(session.done).toEqual([["move", "f", "stock"]]);
  });

  it("says why it can't", async () => {
    const { terminal, after } = show({
      session: { move: async () => await Promise.reject(new Error("the file can't be written")) },
    });
    await terminal.type("m", "shop/q", "enter", "1");
    expect(after()).toBe("error: can't move shop/quote to stock: the file can't be written\n");
  });
});

describe("o, h and q", () => {
  it("open the page, help, quit", async () => {
    const open = vi.fn<(url: string) => Promise<void>>(async () => {});
    const { terminal, stop, after } = show({ open });
    await terminal.type("o", "h");
    expect(open.mock.calls).toEqual([["http://localhost:5173/", {}]]);
    expect(after()).toContain("m  move a procedure to another segment");
    expect(after()).toContain("http://localhost:5173/svc/console#token=abc");
    expect(stop).not.toHaveBeenCalled();
    await terminal.type("q");
    expect(stop).toHaveBeenCalledTimes(1);
  });

  it("a page that can't be opened is told with its address", async () => {
    const { terminal, after } = show({
      open: async () => await Promise.reject(new Error("no opener")),
    });
    await terminal.type("o");
    expect(after()).toBe(
      "The page can't be opened from here (no opener): http://localhost:5173/\n",
    );
  });

  it("Ctrl-C quits, in a question too, where q is a letter", async () => {
    const { terminal, stop } = show();
    await terminal.type("c", "q");
    expect(stop).not.toHaveBeenCalled();
    await terminal.type("ctrl-c");
    expect(stop).toHaveBeenCalledTimes(1);
  });

  it("keys that mean nothing do nothing", async () => {
    const { terminal, after } = show();
    await terminal.type("x", "up", "enter", " ", "C");
    expect(after()).toBe("");
  });
});

describe("while a question is open", () => {
  it("lines go above it, of the session and of the application, and none is lost", async () => {
    const { session, terminal, after } = show();
    await terminal.type("c", "shop/");
    session.emit({ kind: "mended" });
    terminal.stdout.write("hello from a procedure\n");
    terminal.stderr.write("a line without its end");
    session.emit({ kind: "mended" });
    expect(after()).toBe(
      [
        "mended: no problem is left",
        "hello from a procedure",
        "a line without its end",
        "mended: no problem is left",
        "Call which procedure: shop/",
        "› shop/left",
        "  shop/quote",
        "  shop/total",
      ].join("\n"),
    );
    await terminal.type("q", "enter", "1", "enter", "enter");
    expect(session.done).toHaveLength(1);
  });

  it("a text that is longer than the terminal is wide stays on its line", async () => {
    const { terminal, after } = show({ columns: 40 });
    await terminal.type("c", "shop/quote", "enter", "1", "enter", "x".repeat(100));
    expect(after().split("\n")).toHaveLength(1);
    await terminal.type("ctrl-a", "y");
    expect(after()).toMatch(/: yx+$/);
    await terminal.type("escape");
    await vi.waitFor(() => expect(after()).toBe(""));
  });

  it("a paste with line ends answers several", async () => {
    const { session, terminal } = show();
    await terminal.type("c", "shop/quote", "enter");
    await terminal.type("7\rhello\rq");
    await vi.waitFor(() => expect(session.done).toHaveLength(1));
    expect(session.done[0]?.[2]).toEqual({ sku: 7, note: "hello" });
  });

  it("the terminal is given back as it was", async () => {
    const { terminal, shows, after } = show();
    const { write } = fakeTerminal().stdout;
    expect(terminal.stdin.rawMode).toBe(true);
    await terminal.type("c");
    shows.close();
    expect(terminal.stdin.rawMode).toBe(false);
    expect(after()).toBe("");
    expect(String(terminal.stdout.write)).toBe(String(write));
    expect(terminal.stdin.listenerCount("keypress")).toBe(0);
  });
});
