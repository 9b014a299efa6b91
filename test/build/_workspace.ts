// A workspace like those of npm and pnpm: an application, and packages that node_modules links to.

import { mkdirSync, symlinkSync } from "node:fs";
import { dirname, join } from "node:path";

import type { Files } from "./_fixture.ts";

/** The application's folder in its workspace. */
export const applicationFolder = "apps/web";

/** A package of the workspace, `packages/NAME`. Paths are relative to the application. */
export function linked(name: string, json: object, files: Files): Files {
  return packageAt(`../../packages/${name}`, name, json, files);
}

/** An installed package, in the `node_modules` of the workspace or of one of its packages. */
export function installed(name: string, json: object, files: Files, inside = "../.."): Files {
  return packageAt(`${inside}/node_modules/${name}`, name, json, files);
}

function packageAt(folder: string, name: string, json: object, files: Files): Files {
  const own = Object.entries(files).map(([file, text]) => [`${folder}/${file}`, text]);
  return {
    [`${folder}/package.json`]: JSON.stringify({ name, version: "1.0.0", type: "module", ...json }),
    ...Object.fromEntries(own),
  };
}

/** Creates the links in the workspace's `node_modules`. */
export function link({ root }: { readonly root: string }, ...names: readonly string[]): void {
  for (const name of names) {
    const at = join(root, "../../node_modules", name);
    mkdirSync(dirname(at), { recursive: true });
    symlinkSync(join(root, "../../packages", name), at, "dir");
  }
}

/**
 * A package in TypeScript with a subpath, JSON, an enum, dependencies of its own (one in CommonJS),
 * and a dependency that others have in another version.
 */
export const db: Files = {
  ...linked(
    "db",
    {
      exports: {
        ".": "./src/index.ts",
        "./schema": "./src/schema.ts",
        "./data.json": "./src/data.json",
      },
    },
    {
      "src/index.ts": `import { sep } from "node:path";
import { Forbidden } from "seamline";
import both from "both";
import old, { joined } from "old";
import { tiny } from "tiny";
import data from "./data.json";
import { table } from "./schema.js";
export enum Kind {
  Row = 1,
}
let calls = 0;
export class Row {
  constructor(public readonly id: number) {}
}
export const rows = new Set<Row>();
export function next(): object {
  rows.add(new Row(++calls));
  return { calls, both, data, joined, kind: Kind.Row, old: old.other, sep, table, tiny };
}
export function refuse(): never {
  throw new Forbidden("the package refuses");
}
`,
      "src/schema.ts": 'export const table: string = "rolls";\n',
      "src/data.json": '{ "from": "json" }\n',
    },
  ),
  ...installed(
    "tiny",
    { exports: "./index.js" },
    { "index.js": 'export const tiny = "tiny";\n' },
    "../../packages/db",
  ),
  ...installed(
    "old",
    { type: "commonjs", main: "index.js" },
    {
      "index.js": `const { join } = require("path");
exports.other = require("./other");
let optional;
try { optional = require("not-installed"); } catch { optional = "none"; }
exports.joined = join("a", optional);
`,
      "other.js":
        'if (require("path").basename(__filename) !== "other.js" || !__dirname.endsWith("old")) throw new Error(__filename);\nmodule.exports = "required";\n',
    },
    "../../packages/db",
  ),
  ...installed(
    "both",
    { exports: "./index.js" },
    { "index.js": 'export default "the one of db";\n' },
    "../../packages/db",
  ),
  ...installed(
    "both",
    { exports: "./index.js", version: "2.0.0" },
    { "index.js": 'export default "the one of all";\n' },
  ),
};

/** The result of the first call of {@link db}. */
export const first = {
  calls: 1,
  both: "the one of db",
  data: { from: "json" },
  joined: "a/none",
  kind: 1,
  old: "required",
  sep: "/",
  table: "rolls",
  tiny: "tiny",
};
