// A shop of two servers and a page, as a user would write it.

import { getContext } from "../../server/host/carrier.ts";
import * as index from "../../src/index.ts";
import * as internal from "../../src/internal.ts";
import type { Files } from "../build/_fixture.ts";

// The package and what generated code imports, as one module.
const core = { ...index, ...internal, getContext };

// The package as Node finds it from the application folder: the very core that these tests run on.
const coreName = "seamline core of the test kit's tests";
Reflect.set(globalThis, coreName, core);

export const shop: Files = {
  "package.json": '{ "name": "shop", "type": "module" }',
  "node_modules/seamline/package.json":
    '{ "name": "seamline", "type": "module", "exports": { ".": "./index.js", "./internal": "./index.js" } }',
  "node_modules/seamline/index.js": `export const { ${Object.keys(core).join(", ")} } = globalThis[${JSON.stringify(coreName)}];\n`,
  "index.html":
    '<!doctype html><html><body><script type="module" src="/src/main.ts"></script></body></html>',
  "src/main.ts": `import { startClient } from "seamline/client";
import { Money } from "./shop/money.ts";
import { quote } from "./shop/quote.ts";
import { label } from "./ui/label.ts";
await startClient("ui");
const shipping = new Money(400);
document.body.textContent = await label("felt") + shipping.plus(await quote("felt")).cents;
`,
  "src/shop/money.ts": `export class Money {
  readonly cents: number;
  constructor(cents: number) {
    this.cents = cents;
  }
  plus(other: Money): Money {
    return new Money(this.cents + other.cents);
  }
}
`,
  "src/shop/errors.ts": `import { NotFound } from "seamline";
export class OutOfStock extends NotFound {
  readonly sku: string;
  constructor(sku: string) {
    super("out of stock: " + sku);
    this.sku = sku;
  }
}
`,
  "src/shop/quote.ts": `import type { Context } from "seamline";
import { stock } from "../warehouse/stock.ts";
import { OutOfStock } from "./errors.ts";
import { Money } from "./money.ts";

let asked = 0;

export const currency = "EUR";

/** The price of a number of pieces. */
export async function quote(sku: string, quantity: number = 1): Promise<Money> {
  asked++;
  if ((await stock(sku)) < quantity) throw new OutOfStock(sku);
  return new Money(1250 * quantity);
}

export async function total(prices: Money[]): Promise<Money> {
  return prices.reduce((sum, one) => sum.plus(one), new Money(0));
}

export async function whoAsks(this: Context): Promise<string> {
  return (this.headers.get("authorization") ?? "nobody") + " " + asked;
}
`,
  "src/warehouse/stock.ts": `import { hidden } from "./hidden.ts";
export async function stock(sku: string): Promise<number> {
  return sku === "silk" ? 0 : await hidden(8);
}
/** Of the second floor. */
export async function stockUpstairs(sku: string): Promise<number> {
  return sku.length;
}
`,
  "src/warehouse/hidden.ts": `export async function hidden(count: number): Promise<number> {
  return count - 1;
}
`,
  "src/ui/label.ts": `import { stock } from "../warehouse/stock.ts";
export async function label(sku: string): Promise<string> {
  return sku + " (" + (await stock(sku)) + ")";
}
`,
  "src/layers/stamp.ts": `export default {
  async handle(_fqn: string, _version: unknown, _args: unknown, headers: Map<string, string>, next: () => Promise<unknown>) {
    headers.set("authorization", "stamped");
    return await next();
  },
};
`,
  "segments/shop.segment.json": JSON.stringify({
    "./shop/quote": {
      quote: { access: "public" },
      total: { access: "public" },
      whoAsks: { access: "protected" },
    },
  }),
  "segments/warehouse.segment.json": JSON.stringify({
    "./warehouse/stock": {
      stock: { access: "public" },
      stockUpstairs: { access: "public", as: "stock", version: "2.0.0" },
    },
    "./warehouse/hidden": { hidden: { access: "private" } },
  }),
  "segments/ui.segment.json": JSON.stringify({ "./ui/label": { label: { access: "public" } } }),
};

// The types of the modules above for the compiler.
export interface Money {
  readonly cents: number;
  plus(other: Money): Money;
}

export interface Quote {
  readonly currency: string;
  quote(sku: string, quantity?: number): Promise<Money>;
  total(prices: Money[]): Promise<Money>;
  whoAsks(): Promise<string>;
}

export interface Stock {
  stock(sku: string): Promise<number>;
  stockUpstairs(sku: string): Promise<number>;
}
