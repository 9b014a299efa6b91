// Calls that start clients or import through them, in their rarer forms. classes.test.ts has the
// usual ones.

import { describe, expect, it } from "vitest";

import { describe as read } from "./_harness.ts";

const segments = (source: string): unknown[] =>
  read(source, "page.ts").startClientCalls.map((one) =>
    "segments" in one ? one.segments : "problem",
  );

describe("calls of startClient", () => {
  it.each<[string, string, unknown[]]>([
    [
      "are found through a client that is imported dynamically",
      'const client = await import("/svc/client.js"); client.startClient("ui");',
      [["ui"]],
    ],
    [
      "are found by a name that a pattern takes of the client",
      'const { startClient: go, other } = (await import("seamline/client")); go("ui"); other("no");',
      [["ui"]],
    ],
    [
      "are found in one expression",
      '(await import("seamline/client")).startClient("a", "b");',
      [["a", "b"]],
    ],
    [
      "are found under another name, in parentheses, with type assertions",
      'import { startClient as go } from "seamline/client";\n(go as any)(("ui" as Segment));',
      [["ui"]],
    ],
    [
      "are found without any segment",
      'import { startClient } from "seamline/client";\nstartClient();',
      [[]],
    ],
    [
      "are found in two places",
      'import { startClient } from "seamline/client";\nstartClient("a");\nif (b) startClient("c");',
      [["a"], ["c"]],
    ],
    [
      "are found with options, in any form of their names",
      'import { startClient as go } from "seamline/client";\ngo({ headers: () => h(), segments: ["a", `b`] as const });\ngo(({ "segments": (["c"]) } satisfies Options));\ngo({ ...more, ["segments"]: ["d"] });\ngo({ segments: [] });',
      [["a", "b"], ["c"], ["d"], []],
    ],
    [
      "are a problem with options whose segments aren't literals, or may be replaced",
      'import { startClient } from "seamline/client";\nstartClient({ segments });\nstartClient({ segments: [...names] });\nstartClient({ segments: ["a"], ...more });\nstartClient({ segments: ["a"], [key]: 1 });\nstartClient({ segments: list() });\nstartClient({ ...more, headers });\nstartClient(options);',
      ["problem", "problem", "problem", "problem", "problem", "problem", "problem"],
    ],
    [
      "name no segment if the options have none",
      'import { startClient } from "seamline/client";\nstartClient({ headers });\nstartClient({ headers() {} });\nstartClient({});',
      [[], [], []],
    ],
    [
      "are ignored if they come from another package",
      'import { startClient } from "other";\nstartClient("ui");',
      [],
    ],
    [
      "are ignored if they come from a dynamic import of another package",
      'const { startClient } = await import("other"); startClient("ui");',
      [],
    ],
    [
      "are ignored if the module declares the function",
      'function startClient(a) {}\nstartClient("ui");',
      [],
    ],
    [
      "are ignored if they are a member of another object",
      'import * as s from "seamline";\nother.startClient("ui"); s.stop("ui");',
      [],
    ],
    [
      "are ignored if another export was renamed to startClient",
      'import { start as startClient } from "seamline/client";\nstartClient("ui");',
      [],
    ],
  ])("%s", (_, source, expected) => {
    expect(segments(source)).toEqual(expected);
  });

  it("with an argument that isn't a literal are a problem at that argument, with a hint", () => {
    const { startClientCalls } = read(
      'import { startClient } from "seamline/client";\nstartClient("ui", name);',
      "page.ts",
    );
    expect(startClientCalls).toMatchObject([
      {
        problem: {
          file: "page.ts",
          line: 2,
          column: 19,
          hint: expect.stringContaining('"browserSegments"') as string,
        },
      },
    ]);
  });
});

describe("calls of startClient with options", () => {
  it("are a problem at the segment that isn't a literal", () => {
    const { startClientCalls } = read(
      'import { startClient } from "seamline/client";\nstartClient({ segments: ["ui", name] });',
      "page.ts",
    );
    expect(startClientCalls).toMatchObject([{ problem: { line: 2, column: 32 } }]);
  });
});

describe("calls of client.import", () => {
  it("are collected by literal path, each once, on any object", () => {
    const source =
      'client.import("./a.js"); x["import"]("../b.js"); (y.import as any)(`/c.js`); client.import("./a.js"); client.import("d"); client.import(e); client.load("./f.js");';
    expect(read(source, "page.ts").clientImports).toEqual(["./a.js", "../b.js", "/c.js"]);
  });
});
