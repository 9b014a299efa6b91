// Modules with `onStop` that run again.

import { expect, it } from "vitest";

import { develop, eventually } from "./_session.ts";

const done: string[] = [];
Reflect.set(globalThis, "on-stop development", done);

const files = {
  "index.html": "<!doctype html><title>Stops</title>",
  "src/shop/stock.ts": `import { onStop } from "seamline";

const done = (globalThis as never as Record<string, string[]>)["on-stop development"]!;
done.push("opens 1");
onStop(() => void done.push("closes 1"));

export async function left(): Promise<number> {
  done.push("call begins");
  await new Promise((later) => setTimeout(later, 300));
  done.push("call ends");
  return 1;
}
`,
  "src/shop/late.ts": `import { onStop } from "seamline";

const done = (globalThis as never as Record<string, string[]>)["on-stop development"]!;
done.push("late opens 1");
onStop(() => void done.push("late closes"));
export const late = 1;
`,
  "src/shop/lazy.ts": `export async function lazy(): Promise<number> {
  return (await import("./late.ts")).late;
}
`,
  "segments/shop.segment.json":
    '{ "./shop/stock": { "left": { "access": "public" } }, "./shop/lazy": { "lazy": { "access": "public" } } }',
};

it("in development the callbacks of a module run before it runs again, after calls in the old one, and when the session ends", async () => {
  const running = await develop(files);
  const call = running.get("/rpc/shop/left");
  await eventually(() => done.includes("call begins"), Boolean);
  running.edit("src/shop/stock.ts", "opens 1", "opens 2");
  running.edit("src/shop/stock.ts", "closes 1", "closes 2");
  await eventually(() => done.includes("opens 2"), Boolean);
  expect((await call).value).toBe(1);
  expect(done).toEqual(["opens 1", "call begins", "call ends", "closes 1", "opens 2"]);
  await running.session.close();
  expect(done.slice(5)).toEqual(["closes 2"]);
});

it("a module that a call has loaded is closed before it runs again, like any other", async () => {
  const running = await develop(files);
  expect((await running.get("/rpc/shop/lazy")).value).toBe(1);
  done.length = 0;
  running.edit("src/shop/late.ts", "late opens 1", "late opens 2");
  await eventually(async () => {
    await running.get("/rpc/shop/lazy");
    return done.includes("late opens 2");
  }, Boolean);
  expect(done).toEqual(["late closes", "late opens 2"]);
});
