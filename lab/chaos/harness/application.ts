// The application that is called: each procedure writes the id of its call into a ledger before it
// does anything else.

import { mkdir } from "node:fs/promises";
import { join } from "node:path";

import {
  type Application,
  buildPackage,
  createApplication,
} from "../../../test/process/_application.ts";
import { removedAtExit } from "./started.ts";

/** How long a procedure takes, unless it says otherwise. */
export const procedureMs = 20;

/** The secret that the services share. */
export const trustKey = "trust-key-of-the-chaos-tests";

/** `order` may run once, `stock` is declared idempotent, `count` keeps the processor busy. */
export type Kind = "order" | "stock" | "count";

const source = `
import { openSync, writeSync } from "node:fs";

const { CHAOS_LEDGER = "", CHAOS_NODE = "" } = process.env;
const me = \`\${CHAOS_NODE} \${process.pid}\`;
let ledger: number | undefined;

/** One write of a few bytes to a file opened for appending: it survives a kill -9. */
function note(id: string): void {
  ledger ??= openSync(\`\${CHAOS_LEDGER}/\${CHAOS_NODE}-\${process.pid}\`, "a");
  writeSync(ledger, \`\${id} \${performance.timeOrigin + performance.now()}\\n\`);
}

async function run(id: string, ms: number): Promise<string> {
  note(id);
  await new Promise((resolve) => setTimeout(resolve, ms));
  return me;
}

export async function order(id: string, ms = ${procedureMs}): Promise<string> { return await run(id, ms); }
export async function stock(id: string, ms = ${procedureMs}): Promise<string> { return await run(id, ms); }
export async function count(id: string): Promise<string> {
  note(id);
  const until = performance.now() + 5;
  while (performance.now() < until);
  return me;
}
`;

/** A node is healthy until the test creates a file of its name. */
const healthCheck = `
import { existsSync } from "node:fs";
const { CHAOS_LEDGER, CHAOS_NODE } = process.env;
export default { isHealthy: async () => !existsSync(\`\${CHAOS_LEDGER}/ill-\${CHAOS_NODE}\`) };
`;

export interface ShopApplication extends Application {
  /** The folder of the ledger. */
  readonly ledger: string;
}

/** Creates and builds the application. */
export async function createShop(): Promise<ShopApplication> {
  buildPackage();
  const application = await createApplication();
  removedAtExit(application.root);
  await application.put("index.html", "<!doctype html><title>Shop</title>");
  await application.put("src/shop.ts", source);
  await application.put("check.mjs", healthCheck);
  await application.put("shop.segment.json", {
    "./shop": {
      order: { access: "public" },
      stock: { access: "public", idempotent: true },
      count: { access: "public" },
    },
  });
  const ledger = join(application.root, "ledger");
  await mkdir(ledger);
  const build = application.seamline(["build"]);
  if ((await build.ended()) !== 0) throw new Error(`The build failed:\n${build.output()}`);
  return { ...application, ledger };
}
