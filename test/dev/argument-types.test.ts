// Arguments of callers from outside are checked in development, and a check follows the edit of a type.

import { existsSync, statSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";

import { develop, eventually, type Files } from "./_session.ts";

const shop: Files = {
  "src/shop/order.ts": `import type { Line } from "./line.ts";
export async function order(line: Line, due: Date): Promise<string> {
  return \`\${JSON.stringify(line)} \${due instanceof Date}\`;
}
`,
  "src/shop/line.ts": "export interface Line { metres: number }\n",
  "shop.segment.json": '{ "./shop/order": { "order": { "access": "public" } } }',
};

/** The answer to the call with this line. */
async function order(url: string, line: unknown): Promise<string> {
  const answer = await fetch(`${url}/rpc/shop/order`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ line, due: "2026-12-01" }),
  });
  return await answer.text();
}

it("a call right after the edit of a type is checked by the new one", async () => {
  const { session, edit, logged } = await develop(shop);
  // On a busy machine the compiler may still load after two seconds.
  const first = async (): Promise<string> => await order(session.url, { metres: 1, admin: true });
  expect(await eventually(first, (said) => !said.includes("admin"))).toBe('{"metres":1} true');
  expect(await order(session.url, { metres: "1" })).toContain("line.metres: expected number");
  edit("src/shop/line.ts", "number", "string");
  const asked = await eventually(
    () => order(session.url, { metres: "1" }),
    (said) => said === '{"metres":"1"} true',
  );
  expect(asked).toBe('{"metres":"1"} true');
  expect(await order(session.url, { metres: 1 })).toContain("line.metres: expected text");
  expect(logged.filter((line) => !line.includes("isn't checked"))).toEqual([]);
});

it("an edit in a function reads no types again, and one of a type after it does", async () => {
  const { session, edit, root } = await develop(shop);
  const kept = join(root, "node_modules/.vite/seamline-types.json");
  const said = async (metres: unknown, wanted: string): Promise<void> => {
    const call = async (): Promise<string> => await order(session.url, { metres });
    expect(await eventually(call, (answer) => answer.includes(wanted))).toContain(wanted);
  };
  await said("1", "line.metres: expected number");
  await eventually(
    async () => existsSync(kept),
    (exists) => exists,
  );
  const { ino } = statSync(kept);
  edit("src/shop/order.ts", "${JSON", "again ${JSON");
  await said(1, 'again {"metres":1}');
  await said("1", "line.metres: expected number");
  expect(statSync(kept).ino).toBe(ino);
  edit("src/shop/line.ts", "number", "string");
  await said(1, "line.metres: expected text");
  expect(statSync(kept).ino).not.toBe(ino);
});

it("a type that can't be resolved is a problem that stops nothing but calls of that procedure", async () => {
  const running = await develop({
    ...shop,
    "src/shop/count.ts": "export async function count(): Promise<number> { return 1; }\n",
    "count.segment.json": '{ "./shop/count": { "count": { "access": "public" } } }',
  });
  const { session, edit, events, get } = running;
  await session.ready;
  const before = events.length;
  edit("src/shop/line.ts", "number", "Metres");
  expect(await running.nextEvent("problems", before)).toMatchObject({
    isLive: true,
    problems: [
      {
        file: "src/shop/order.ts",
        message: expect.stringContaining("line.metres: its type can't be resolved"),
      },
    ],
  });
  expect(await order(session.url, { metres: 1 })).toContain(
    "line.metres: its type can't be resolved",
  );
  expect((await get("/rpc/shop/count")).value).toBe(1);
  edit("src/shop/line.ts", "Metres", "number");
  await running.nextEvent("mended", before);
  expect(await order(session.url, { metres: 1 })).toBe('{"metres":1} true');
});
