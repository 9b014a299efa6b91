// Aliases that replace Node's modules for pages, as polyfills do.

import { describe, expect, it } from "vitest";

import { anyPort, applicationOf, start } from "../spec/_started.ts";
import type { Files } from "./_fixture.ts";

const files = (alias: string): Files => ({
  "vite.config.js": `export default { resolve: { alias: ${alias} } };\n`,
  "node_modules/crypto-browserify/package.json":
    '{ "name": "crypto-browserify", "type": "module", "exports": "./index.js" }',
  "node_modules/crypto-browserify/index.js": 'export const randomUUID = () => "polyfill";\n',
  "node_modules/buffer/package.json": '{ "name": "buffer", "type": "module", "main": "index.js" }',
  "node_modules/buffer/index.js": 'export const Buffer = "polyfill";\n',
  "src/shims/util.ts": 'export const inspect = (): string => "shim";\n',
  "src/shop/ids.ts": `import { Buffer } from "node:buffer";
import { randomUUID } from "crypto";
import { inspect } from "util";
import { Buffer as installed } from "buffer/";
export async function ids(): Promise<unknown> {
  return [typeof Buffer, randomUUID().length, inspect("a"), installed];
}
`,
  "src/shop/ids.segment.json": '{ "./shop/ids": { "ids": { "access": "public" } } }',
});

const polyfills = '{ crypto: "crypto-browserify", "node:buffer": "buffer/" }';
const node = ["function", 36, "'a'", "polyfill"];

describe("an alias of one of Node's modules", () => {
  it("a built server has Node's own module, and a package of that name where it is meant", async () => {
    const application = applicationOf(files(polyfills));
    const { warnings } = await application.build();
    expect(warnings).toEqual([]);
    const { url } = await start(application, { mode: "standalone", url: anyPort });
    expect(await (await fetch(`${url}/rpc/shop/ids`)).json()).toEqual(node);
  });

  it("an alias to the application's own file is named, as servers don't get that file", async () => {
    const application = applicationOf(files('{ util: "/src/shims/util.ts" }'));
    const { warnings } = await application.build();
    expect(warnings).toMatchObject([
      {
        file: "src/shop/ids.ts",
        line: 3,
        message: `"util" is Node's own module on servers, and src/shims/util.ts, to which resolve.alias leads, in pages only`,
      },
    ]);
    const { url } = await start(application, { mode: "standalone", url: anyPort });
    expect(await (await fetch(`${url}/rpc/shop/ids`)).json()).toEqual(node);
  });
});
