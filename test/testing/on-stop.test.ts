// Modules of a test cluster may use onStop, as they do in a service.
import { expect, it } from "vitest";

import { createTestCluster, type TestCluster } from "../../server/testing/index.ts";
import { createFixture } from "../build/_fixture.ts";

const marks = globalThis as { onStopMarks?: string[] };

/** Two nodes, each with a module that opens something after an await at its top level. */
async function open(): Promise<TestCluster> {
  marks.onStopMarks = [];
  const opening = (name: string): string => `import { onStop } from "seamline";
const marks = (globalThis as unknown as { onStopMarks: string[] }).onStopMarks;
await Promise.resolve();
onStop(async () => { await Promise.resolve(); marks.push("${name}"); });
export const opened = "${name}";
`;
  const asking = (file: string): string =>
    `import { opened } from "./${file}";\nexport async function ask() { return opened; }\n`;
  const { root } = createFixture({
    "src/a/open.ts": opening("a"),
    "src/a/ask.ts": asking("open.ts"),
    "src/b/open.ts": opening("b"),
    "src/b/ask.ts": asking("open.ts"),
    "segments/a.segment.json": '{ "./a/ask": { "ask": { "access": "public" } } }',
    "segments/b.segment.json": '{ "./b/ask": { "ask": { "access": "public" } } }',
  });
  return await createTestCluster({ root });
}

it("what modules passed to onStop runs when their cluster stops, the last node's first", async () => {
  const cluster = await open();
  expect(await cluster.runProcedure("a/ask", "", {})).toBe("a");
  expect(marks.onStopMarks).toEqual([]);
  await cluster.stop();
  expect(marks.onStopMarks).toEqual(["b", "a"]);
});

it("it runs once when a node stops, not when it is killed, and again after another start", async () => {
  await using cluster = await open();
  await cluster.node("a").stop();
  expect(marks.onStopMarks).toEqual(["a"]);
  cluster.node("b").kill();
  expect(marks.onStopMarks).toEqual(["a"]);
  await cluster.node("a").start();
  expect(await cluster.runProcedure("a/ask", "", {})).toBe("a");
  await cluster.stop();
  expect(marks.onStopMarks).toEqual(["a", "a"]);
});
