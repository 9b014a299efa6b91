// Nodes that are killed and started while they follow an edit.

import { expect, it, onTestFinished } from "vitest";

import { develop, eventually, type Running, shop } from "./_session.ts";

const here = globalThis as { gate?: Promise<void> | undefined; isLoading?: boolean };

/** Makes `shop/slow` wait while it is loaded, until the returned function is called. */
function closeGate(): () => void {
  let open = (): void => {};
  here.isLoading = false;
  here.gate = new Promise((resolve) => (open = resolve));
  onTestFinished(() => {
    open();
    delete here.gate;
  });
  return open;
}

const slow = {
  "src/shop/slow.ts":
    'Reflect.set(globalThis, "isLoading", true);\nawait Reflect.get(globalThis, "gate");\nexport const slow = 1;\n',
  "src/shop/after.ts": "export const after = 1;\n",
};
const stock = (times: number): string =>
  `import { slow } from "./slow.ts";\nimport { after } from "./after.ts";\n${shop["src/shop/stock.ts"]?.replace("sku.length", `sku.length * slow * after * ${times}`)}`;

async function answers({ get }: Running, expected: number): Promise<void> {
  const ask = async (): Promise<unknown> => (await get("/rpc/shop/stock?sku=abc")).value;
  expect(await eventually(ask, (value) => value === expected)).toBe(expected);
}

it("a node that is killed while it follows an edit isn't a problem, and starts with the edit", async () => {
  const running = await develop({ ...shop, ...slow });
  const { session, write, events } = running;
  const open = closeGate();
  write({ "src/shop/stock.ts": stock(2) });
  await eventually(() => here.isLoading, Boolean);
  await session.kill("store");
  open();
  await session.start("store");
  await answers(running, 6);
  write({ "src/shop/stock.ts": stock(3) });
  await answers(running, 9);
  expect(events.filter(({ kind }) => kind === "problems")).toEqual([]);
});

it("an edit while a node starts is live once it has started", async () => {
  const running = await develop({ ...shop, ...slow, "src/shop/stock.ts": stock(2) });
  const { session, write } = running;
  await answers(running, 6);
  await session.kill("store");
  const open = closeGate();
  const started = session.start("store");
  await eventually(() => here.isLoading, Boolean);
  write({ "src/shop/stock.ts": stock(3) });
  // Long enough for the session to notice the edit, if it doesn't wait.
  await new Promise((resolve) => setTimeout(resolve, 500));
  open();
  await started;
  await answers(running, 9);
});
