// Installs the packed package in an application, checks its types under both module resolutions,
// and loads its entries. `node scripts/consumer.mjs TARBALL`, part of `npm run check`.
import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";

const root = join(import.meta.dirname, "..");
const tarball = resolve(process.argv[2] ?? "");
const folder = join(root, "node_modules/.cache/seamline-consumer");
const installed = join(folder, "node_modules/seamline");

const application = `
import { checked, type Context, CorsMiddleware, type Middleware, NotFound, type Procedure, runProcedure, type StandardSchema } from "seamline";
import { startClient } from "seamline/client";
import { createGraph } from "seamline/internal";
import { defineConfig, startServer } from "seamline/server";
import type { MaxLength, Min } from "seamline/types";
import { seamline } from "seamline/vite";
import type { Plugin } from "vite";

class OutOfStock extends NotFound {}
const error: Error = new OutOfStock("none left");
const middleware: Middleware = new CorsMiddleware();
const plugins: unknown = [seamline()] satisfies (Plugin | Plugin[])[];
export async function greet(this: Context, name: string): Promise<string> {
  return \`\${name} \${this.headers.get("accept-language")}\`;
}
export async function order(sku: string & MaxLength<20>, metres: number & Min<0>): Promise<number> {
  return sku.length * metres;
}
const ordered: number = await order("felt", 2);
const schema: StandardSchema<string, number> = {
  "~standard": { version: 1, vendor: "own", validate: (value) => ({ value: Number(value) }) },
};
const doubled: number = await checked(schema, async (given) => 2 * given)("2");
const config = defineConfig({ mode: "standalone", url: "http://127.0.0.1:3000" });
const procedures: Procedure[] = [greet];
const server = await startServer((specifier) => import(specifier), { config });
await startServer();
server.addMiddleware(middleware);
server.addHealthCheck("always", { isHealthy: async () => true });
const client = await startClient("ui");
const module = await client.import<{ greet: typeof greet }>("./greet.js");
// As a build's .seamline/modules.d.ts does.
declare module "seamline/client" {
  interface Modules {
    "./greet.js": { greet: typeof greet };
  }
}
const greeted: string[] = [await module.greet("x"), await (await client.import("./greet.js")).greet("x")];
const byName: string = await runProcedure<typeof greet>("greet", "1.0.0", { name: "x" });
export const all: unknown = [error, plugins, greeted, byName, procedures, createGraph, ordered, doubled];
`;

rmSync(folder, { recursive: true, force: true });
mkdirSync(installed, { recursive: true });
execFileSync("tar", ["xzf", tarball, "--strip-components=1", "-C", installed]);
writeFileSync(join(folder, "package.json"), '{ "private": true, "type": "module" }\n');
writeFileSync(join(folder, "application.ts"), application);

for (const [module, moduleResolution] of [
  ["NodeNext", "NodeNext"],
  ["ESNext", "Bundler"],
]) {
  const types = { module, moduleResolution, types: ["node"], skipLibCheck: false };
  const compilerOptions = {
    target: "ES2022",
    lib: ["ES2023", "DOM"],
    ...types,
    strict: true,
    exactOptionalPropertyTypes: true,
    noEmit: true,
  };
  const config = join(folder, `tsconfig.${module}.json`);
  writeFileSync(config, JSON.stringify({ compilerOptions, files: ["application.ts"] }));
  const tsc = spawnSync(
    process.execPath,
    [join(root, "node_modules/typescript/bin/tsc"), "-p", config],
    { cwd: folder, encoding: "utf8" },
  );
  // Checks our declarations too, where a bundled library's types could be missing; ignores errors
  // in those of other packages.
  const errors = tsc.stdout
    .split("\n")
    .filter((line) => /^(application\.ts|node_modules\/seamline\/|error)/.test(line));
  if (errors.length > 0) throw new Error(`${module}: ${errors.join("\n")}`);
}

// Editors look for the schemas at these paths.
for (const name of ["config", "segment"])
  JSON.parse(readFileSync(join(installed, `schema/${name}.json`), "utf8"));

const load = `
import {} from "seamline/types";
import { createRequire } from "node:module";
const require = createRequire(import.meta.url);
for (const name of ["seamline", "seamline/internal", "seamline/server", "seamline/vite"]) {
  if (Object.keys(await import(name)).length === 0) throw new Error(name + " exports nothing");
  require(name); // from CommonJS, too
}
`;
writeFileSync(join(folder, "load.js"), load);
execFileSync(process.execPath, [join(folder, "load.js")], { stdio: "inherit" });
execFileSync(process.execPath, [join(installed, "dist/cli.js"), "--help"], {
  stdio: ["ignore", "ignore", "inherit"],
});
