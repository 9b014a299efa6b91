// A page's call sends its arguments as they were, even if the page changes them after the call. The calls
// are made at the page's first moment, before the rest of the runtime and any segment is loaded.

import { test } from "@playwright/test";
import { buildPackage } from "../test/process/_application.ts";
import { commands, expectShown } from "./_page.ts";

const shop = `import { getContext } from "seamline";
import { Cart } from "./cart.ts";

export async function lines(cart: string[]): Promise<number> { return cart.length; }
export async function times(dates: Date[], more: Map<string, Set<number>>): Promise<string> {
  return dates.map((date) => date.getTime()).join() + " " + [...(more.get("a") ?? [])].join();
}
export async function bytes(of: Uint8Array): Promise<string> { return of.join(); }
export async function fields(form: FormData): Promise<string> {
  return [...form].map(([name, value]) => name + "=" + (typeof value === "string" ? value : value.name)).join();
}
export async function cartOf(cart: Cart): Promise<string> { return [cart.owner, ...cart.items].join(); }
export async function header(): Promise<string> { return getContext().headers.get("x-a") ?? "none"; }
`;
const cart = `export class Cart {
  #owner: string;
  items: string[];
  constructor(owner: string, items: string[]) { this.#owner = owner; this.items = items; }
  get owner(): string { return this.#owner; }
  set owner(owner: string) { this.#owner = owner; }
}
`;

/** Each is a call, and then a change of what it was given. */
const calls = `
const list = ["tweed", "linen"];
const dates = [new Date(1)];
const more = new Map([["a", new Set([1])]]);
const octets = new Uint8Array([1, 2]);
const form = new FormData();
form.append("a", "1");
form.append("f", new File(["text"], "f.txt"));
const instance = new Cart("ada", ["tweed"]);
const headers = { "x-a": "1" };
const byName = { cart: ["tweed", "linen"] };
const revoked = Proxy.revocable(["tweed", "linen"], {});
const all = Promise.all([
  lines(list), times(dates, more), bytes(octets), fields(form), cartOf(instance),
  withOptions(header, { headers })(), withOptions(lines, { timeoutMs: 20000 })(list),
  runProcedure("shop/lines", "", byName), lines(revoked.proxy),
]);
list.length = 0;
dates[0].setTime(9);
more.get("a").add(9);
octets[0] = 9;
form.append("b", "9");
instance.owner = "bob";
instance.items.push("linen");
headers["x-a"] = "9";
byName.cart.length = 0;
revoked.revoke();
document.querySelector("output").textContent = await all.then((texts) => texts.join(" | "), String);
`;
const sent = "2 | 1 1 | 1,2 | a=1,f=f.txt | ada,tweed | 1 | 2 | 2 | 2";

const filesOf = (before: string): Readonly<Record<string, string | object>> => ({
  "segments/shop.segment.json": {
    "./shop/shop": Object.fromEntries(
      ["lines", "times", "bytes", "fields", "cartOf", "header"].map((name) => [
        name,
        { access: "public" },
      ]),
    ),
  },
  "segments/page.segment.json": {},
  "src/shop/shop.ts": shop,
  "src/shop/cart.ts": cart,
  "src/main.ts": `// @ts-nocheck
import { runProcedure, withOptions } from "seamline";
import { startClient } from "seamline/client";
import { Cart } from "./shop/cart.ts";
import { bytes, cartOf, fields, header, lines, times } from "./shop/shop.ts";
${before}
${calls}`,
});

test.beforeAll(() => buildPackage());

const starts = {
  "before startClient has finished": 'void startClient("page");',
  "once the page has started": 'await startClient("page");',
};
for (const [when, before] of Object.entries(starts))
  for (const command of commands)
    test(`calls send their arguments as they were, ${when}: ${command}`, async ({ page }) => {
      await expectShown(page, command, filesOf(before), sent);
    });
