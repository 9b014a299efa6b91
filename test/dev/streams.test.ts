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
