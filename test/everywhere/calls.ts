// Calls between segments, which the other suites build on.

import { expect, it } from "vitest";

import type { Suite } from "./_modes.ts";

export const calls: Suite = {
  title: "calls",
  files: {
    "segments/calls.segment.json": '{ "./calls/outer": { "outer": { "access": "public" } } }\n',
    "segments/calls-inner.segment.json":
      '{ "./calls/inner": { "inner": { "access": "protected" } } }\n',
    "src/calls/outer.ts": `import { inner } from "./inner.ts";
export async function outer(name: string): Promise<string> {
  return "outer " + (await inner(name));
}
`,
    "src/calls/inner.ts": `export async function inner(name: string): Promise<string> {
  return "inner " + name;
}
`,
  },
  tests(mode) {
    it("a call from outside reaches a procedure of another segment through the first one", async () => {
      const answer = await mode().request("/rpc/calls/outer?name=felt");
      expect([answer.status, await answer.text()]).toEqual([200, "outer inner felt"]);
    });
  },
};
