// Plain pages with handwritten build output, for tests that control the origin.

import type { Page } from "@playwright/test";
import { integrityOf, type Origin } from "./_origin.ts";

export interface DeployOptions {
  /** Replaces the hash of one file. */
  readonly integrity?: string;
  /** A second segment that browsers may load, with `shop/tax`. */
  readonly tax?: true;
  /** Whether `shop/quote` passes its `this` on to the procedures it calls. */
  readonly byHand?: true;
}

/**
 * Writes a build's output for `shop/quote`, which runs in the page, and the remote `shop/stock`.
 */
export function deployTo(origin: Origin, revision: string, options: DeployOptions = {}): void {
  const face = (name: string, more = ""): string => `
    import { seam } from "/svc/client.js"; ${more}
    const procedure = seam({ fqn: "shop/${name}", version: "1.0.0", parameters: [{ kind: "plain", name: "sku" }] });
    export function ${name}(sku) { return procedure.run.apply(this, arguments); }`;
  const texts: Record<string, string> = {
    [`quote-${revision}.js`]: face("quote", `export { Money } from "./money-${revision}.js";`),
    [`stock-${revision}.js`]: face("stock"),
    [`quote-body-${revision}.js`]: `
      import { stock } from "./stock-${revision}.js"; import { Money } from "./money-${revision}.js"; import { context } from "/svc/client.js";
      export async function quote(sku) {
        ${options.byHand ? 'const self = context(this, "[shop/quote | v1.0.0]");' : "const self = undefined;"}
        return new Money(await stock.call(self, sku) * 100, "${revision}");
      }`,
    [`money-${revision}.js`]: `
      import "./cents-${revision}.js";
      export class Money { constructor(cents, revision) { this.cents = cents; this.revision = revision; } }`,
    [`money-${revision}.css`]: "output { color: rgb(1, 2, 3); }",
    [`cents-${revision}.js`]: `globalThis.ran = [...(globalThis.ran ?? []), "${revision}"];`,
    ...(options.tax && {
      [`tax-${revision}.js`]: face("tax"),
      [`tax-body-${revision}.js`]: "export async function tax(sku) { return 'tax of ' + sku; }",
    }),
  };
  const imports: Record<string, string[]> = {
    [`quote-${revision}.js`]: [`money-${revision}.js`],
    [`quote-body-${revision}.js`]: [`stock-${revision}.js`, `money-${revision}.js`],
    [`money-${revision}.js`]: [`cents-${revision}.js`, `money-${revision}.css`],
  };
  for (const [file, text] of Object.entries(texts)) origin.files.set(`/${file}`, text);
  const files = Object.fromEntries(
    Object.entries(texts).map(([file, text]) => [
      file,
      { integrity: integrityOf(text), size: text.length, imports: imports[file] ?? [] },
    ]),
  );
  const record = files[`cents-${revision}.js`];
  if (record !== undefined && options.integrity !== undefined) record.integrity = options.integrity;
  const manifest = {
    format: 1,
    revision,
    procedures: ["quote", ...(options.tax ? ["tax"] : [])].map((name) => ({
      fqn: `shop/${name}`,
      version: "1.0.0",
      module: `shop/${name}`,
      export: name,
      parameters: [{ kind: "plain", name: "sku" }],
    })),
    segments: {
      ui: [{ procedure: 0, access: "private" }],
      ...(options.tax && { tax: [{ procedure: 1, access: "private" }] }),
    },
    classes: [],
    modules: {
      "shop/quote": { file: `quote-${revision}.js`, body: `quote-body-${revision}.js` },
      "shop/stock": { file: `stock-${revision}.js` },
      ...(options.tax && {
        "shop/tax": { file: `tax-${revision}.js`, body: `tax-body-${revision}.js` },
      }),
    },
    files,
  };
  origin.files.set("/svc/manifest.json", JSON.stringify(manifest));
}

/** Serves a page that shows the result or error of `body`, which runs after the imports. */
export function servePageAt(origin: Origin, body: string, head = ""): void {
  origin.files.set(
    "/index.html",
    `<!doctype html><html><head>${head}</head><body><output></output><script type="module" src="/main.js"></script></body></html>`,
  );
  origin.files.set(
    "/main.js",
    `import * as client from "/svc/client.js";
     const { startClient, runProcedure } = client;
     const show = (text) => { document.querySelector("output").textContent = text; };
     try { show(await (async () => { ${body} })()); } catch (error) { show(error.name + ": " + error.message); }`,
  );
}

/** Starts a segment and calls its procedure, which calls a remote one. */
export const quotePage = `
  const { import: load } = await startClient("ui");
  const { quote, Money } = await load("./shop/quote.js");
  const price = await quote("A1");
  return price.cents + " " + price.revision + " " + (price instanceof Money);`;

export async function visitAt(origin: Origin, page: Page): Promise<void> {
  origin.requested.length = 0;
  await page.goto(`${origin.url}/index.html`);
}
