// `onStop` in a page of `seamline dev`: its modules are replaced, and bodies move away and back.

import { expect, test } from "@playwright/test";
import { develop, type DevRun } from "./dev-application.ts";
import { application, moved, movedBack, open as openPage, within, write } from "./dev-shop.ts";

let run: DevRun;
test.beforeEach(async () => {
  run = await develop({
    ...application,
    "src/shop/pool.ts": `import { onStop as atEnd } from "seamline";
export const life: string[] = ((globalThis as never as { life?: string[] }).life ??= []);
export const openPool = (name: string): { close(): Promise<void> } => {
  life.push(name + " opens");
  return {
    async close(): Promise<void> {
      await new Promise((resolve) => setTimeout(resolve, 10));
      life.push(name + " closes");
    },
  };
};
const pool = openPool("pool 1");
atEnd(() => pool.close());
`,
    "src/shop/quote.ts": application["src/shop/quote.ts"]
      .replace(
        "let calls = 0;",
        `import { onStop } from "seamline";
import * as seamline from "seamline";
import { life, openPool } from "./pool.ts";
const stock = openPool("quote");
seamline.onStop(() => stock.close());
onStop(() => {
  throw new Error(typeof stock + " can't close");
});
let calls = 0;`,
      )
      .replace(
        "  calls++;\n",
        `  calls++;
  if (sku === "slow" && stock) {
    life.push("call begins");
    await new Promise((resolve) => setTimeout(resolve, 400));
    life.push("call ends");
  }
`,
      ),
  });
});
test.afterEach(async () => await run.stop());

test("a page isn't reloaded when a module is edited that only a body had that has moved away", async ({
  page,
}) => {
  const loaded = await openPage(page, run);
  const quoted = async (): Promise<unknown> =>
    await within(page, 'at(() => quote("abc")).then(({ value, where }) => where + value.amount)');
  write(run, moved);
  await expect.poll(quoted).toBe("local30");
  write(run, movedBack);
  await expect.poll(quoted).toBe("remote30");
  // Vite notices that nothing imports it any more when it serves the module without it.
  await expect.poll(() => within(page, "globalThis.life.join()")).toMatch(/quote closes/);

  run.edit("src/shop/pool.ts", "pool 1", "pool 2");
  run.edit("src/title.ts", "Cloth", "Cloth and thread");
  await expect(page.locator("h1")).toHaveText("Cloth and thread");
  expect(await within(page, "page")).toBe(loaded);
});

test("callbacks of onStop run when a body moves away, after its calls, and before a module runs again; a body that comes back runs again", async ({
  page,
}) => {
  const logged: string[] = [];
  page.on("console", (message) => {
    if (message.type() === "error") logged.push(message.text());
  });
  const loaded = await openPage(page, run);
  const life = async (): Promise<readonly string[]> =>
    (await within(page, "globalThis.life ?? []")) as string[];
  /** The open things; each may be open only once. Vite may update a module more than once. */
  const open = async (): Promise<string> => {
    const found = new Set<string>();
    for (const line of await life()) {
      const [, name = "", happens] = /^(.*) (opens|closes)$/.exec(line) ?? [];
      if (name === "") continue;
      const isOpen = happens === "opens";
      if (found.has(name) === isOpen) return `${line} twice: ${(await life()).join()}`;
      if (isOpen) found.add(name);
      else found.delete(name);
    }
    return [...found].sort().join();
  };
  const quoted = async (): Promise<unknown> =>
    await within(page, 'at(() => quote("abc")).then(({ value, where }) => where + value.amount)');

  write(run, moved);
  await expect.poll(quoted).toBe("local30");
  expect(await life()).toEqual(["pool 1 opens", "quote opens"]);

  run.edit("src/shop/quote.ts", "* 10", "* 20");
  await expect.poll(quoted).toBe("local60");
  expect((await life()).slice(2, 4)).toEqual(["quote closes", "quote opens"]);
  expect(await open()).toBe("pool 1,quote");
  expect(logged.join()).toContain("can't close");

  run.edit("src/shop/pool.ts", "pool 1", "pool 2");
  await expect.poll(open).toBe("pool 2,quote");

  await within(page, 'globalThis.slow = quote("slow"), undefined');
  write(run, movedBack);
  await expect.poll(quoted).toBe("remote60");
  // Modules that only the body imports are closed, too.
  await expect.poll(open).toBe("");
  expect((await life()).join()).toMatch(/call begins.*call ends.*quote closes/);

  write(run, moved);
  await expect.poll(quoted).toBe("local60");
  expect(await open()).toBe("pool 2,quote");
  expect(await within(page, "page")).toBe(loaded);
});
