// A function that becomes an async generator, or stops being one, while a session runs.

import { expect, it } from "vitest";

import { develop, eventually } from "./_session.ts";

const list = "export async function list(): Promise<number[]> {\n  return [1, 2];\n}\n";
const rows = "export async function* list(): AsyncGenerator<number> {\n  yield 3;\n  yield 4;\n}\n";

it("callers on its own node and on others follow a function that becomes a stream and back", async () => {
  const collect = (name: string): string => `import { withOptions } from "seamline";
import { list } from "./list.ts";
export async function ${name}(): Promise<unknown> {
  const answer = withOptions(list, { timeoutMs: 10_000 })() as unknown as Promise<unknown[]>;
  const all: unknown[] = ["then" in answer ? "promise" : "stream"];
  for await (const item of await answer) all.push(item);
  return all;
}
`;
  const { write, get } = await develop({
    "src/shop/list.ts": list,
    "src/shop/near.ts": collect("near"),
    "src/shop/far.ts": collect("far"),
    "segments/office.segment.json":
      '{ "./shop/list": { "list": { "access": "public" } }, "./shop/near": { "near": { "access": "public" } } }',
    "segments/store.segment.json": '{ "./shop/far": { "far": { "access": "public" } } }',
  });
  const both = async (): Promise<unknown[]> =>
    await Promise.all(["near", "far"].map(async (name) => (await get(`/rpc/shop/${name}`)).value));
  const reached = async (...expected: readonly unknown[]): Promise<void> =>
    expect(
      await eventually(
        both,
        (answers) => JSON.stringify(answers) === JSON.stringify([expected, expected]),
      ),
    ).toEqual([expected, expected]);
  await reached("promise", 1, 2);
  write({ "src/shop/list.ts": rows });
  await reached("stream", 3, 4);
  write({ "src/shop/list.ts": list.replace("[1, 2]", "[5]") });
  await reached("promise", 5);
});

const parking = (version: number): string => `import { getContext, onStop, withId } from "seamline";
import { notes } from "./notes.ts";
const parked = (signal: AbortSignal) => new Promise<void>((end) => signal.addEventListener("abort", () => end()));
onStop(() => void notes.push("stopped ${version}"));
export async function* feed(): AsyncGenerator<string> {
  const { lastEventId = "0", signal } = getContext();
  try {
    yield withId(String(Number(lastEventId) + 1), "feed ${version} after " + lastEventId);
    await parked(signal);
  } finally {
    notes.push("feed ended");
  }
}
export async function* watch(): AsyncGenerator<string> {
  yield "watch ${version}";
  await parked(getContext().signal);
}
`;

it("a stream with resume goes on in the new code, others in the old one, and onStop waits for them a second", async () => {
  const { write, get, session } = await develop({
    "src/shop/feed.ts": parking(1),
    "src/shop/notes.ts":
      "export const notes: string[] = [];\nexport async function noted(): Promise<string[]> {\n  return notes;\n}\n",
    "segments/office.segment.json": JSON.stringify({
      "./shop/feed": {
        feed: { access: "public", resume: true },
        watch: { access: "public", safe: true },
      },
      "./shop/notes": { noted: { access: "public" } },
    }),
  });
  const noted = async (): Promise<unknown> => (await get("/rpc/shop/noted")).value;
  const open = async (name: string, last?: string): Promise<() => Promise<string>> => {
    const { body } = await fetch(`${session.url}/rpc/shop/${name}`, {
      headers: last === undefined ? {} : { "last-event-id": last },
    });
    const reader = body!.pipeThrough(new TextDecoderStream()).getReader();
    return async () => (await reader.read()).value ?? "over";
  };
  const [feed, watch] = [await open("feed"), await open("watch")];
  expect([await feed(), await watch()]).toEqual([
    expect.stringContaining("feed 1 after 0"),
    expect.stringContaining("watch 1"),
  ]);
  write({ "src/shop/feed.ts": parking(2) });
  expect([await feed(), await feed()]).toEqual(["event: again\ndata: null\n\n", "over"]);
  expect(
    await eventually(noted, (notes) => JSON.stringify(notes) === '["feed ended","stopped 1"]'),
  ).toEqual(["feed ended", "stopped 1"]);
  expect(
    await eventually(
      async () => await (await open("feed", "1"))(),
      (text) => text.includes("feed 2"),
    ),
  ).toContain("feed 2 after 1");
  // Its code is the old one as long as it lasts.
  const next = watch();
  expect(await Promise.race([next, new Promise((late) => setTimeout(late, 50, "open"))])).toBe(
    "open",
  );
});
