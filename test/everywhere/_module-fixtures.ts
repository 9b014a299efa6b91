// Things that modules of an application do on servers: each fixture is a few lines, and `answer` gives the
// same in development and after a build.

import type { Files } from "../build/_fixture.ts";

export interface ModuleFixture {
  /** Also the name of its folder and of its segment. */
  readonly name: string;
  /** The text of `answer.ts`, or statements of its only function. */
  readonly answer: string;
  /** Further files, beside `answer.ts`; from the application folder if they begin with a slash. */
  readonly files?: Files;
  readonly expected: unknown;
  /** Its folder, if that isn't its name. */
  readonly folder?: string;
}

/** A function of two numbers that adds them, in WebAssembly; all of its bytes are ASCII. */
const add: string = [
  "\0asm\x01\0\0\0\x01\x07\x01\x60\x02\x7f\x7f\x01\x7f\x03\x02\x01\0",
  "\x07\x07\x01\x03add\0\0\x0a\x09\x01\x07\0\x20\0\x20\x01\x6a\x0b",
].join("");

/** Ids that plugins give to modules that they make up. */
const virtualIds: Readonly<Record<string, string>> = {
  "nul-scheme": "\0virtual:settings",
  "nul-path": "\0virtual/settings",
  "nul-js": "\0settings.js",
  "nul-path-js": "\0virtual/settings.js",
  "nul-mjs": "\0settings.mjs",
  "nul-ts": "\0settings.ts",
  "nul-query": "\0settings.js?part=1",
  "nul-absolute": "\0/no/such/settings.js",
  scheme: "virtual:settings",
  "scheme-js": "virtual:settings.js",
  "path-ts": "virtual/settings.ts",
  "path-js": "virtual/settings.js",
  "absolute-js": "/no/such/settings.js",
};

const packageJson = (more: object): string => JSON.stringify({ version: "1.0.0", ...more });

export const moduleFixtures: readonly ModuleFixture[] = [
  ...Object.keys(virtualIds).map((name) => ({
    name: `virtual-${name}`,
    answer: `import { id } from "made-up:${name}";\nexport async function answer(): Promise<unknown> { return id; }\n`,
    expected: name,
  })),
  {
    name: "import-variable",
    answer: 'const word = "en"; return (await import(`./words/${word}.ts`)).hello;',
    files: { "words/en.ts": 'export const hello = "Hello";\n', "words/de.ts": "export {};\n" },
    expected: "Hello",
  },
  {
    name: "import-variable-missing",
    answer:
      'const word = "fr"; return await import(`./words/${word}.ts`).catch((error: Error) => error.message.includes("fr.ts"));',
    files: { "words/en.ts": 'export const hello = "Hello";\n' },
    expected: true,
  },
  {
    name: "import-literal",
    answer: 'return (await import("./late.ts")).late;',
    files: { "late.ts": 'export const late = "late";\n' },
    expected: "late",
  },
  {
    name: "import-unanalysed",
    answer: 'const name = "node:path"; return typeof (await import(/* @vite-ignore */ name)).join;',
    expected: "function",
  },
  {
    name: "import-data-url",
    answer: 'return (await import("data:text/javascript,export default 7")).default;',
    expected: 7,
  },
  {
    name: "glob-eager",
    answer: `export async function answer(): Promise<unknown> {
  return import.meta.glob("./words/*.ts", { eager: true, import: "hello" });
}
`,
    files: { "words/en.ts": 'export const hello = "Hello";\n' },
    expected: { "./words/en.ts": "Hello" },
  },
  {
    name: "glob-lazy",
    answer: `export async function answer(): Promise<unknown> {
  const [load] = Object.values(import.meta.glob("./words/*.ts"));
  return (await load!() as { hello: string }).hello;
}
`,
    files: { "words/en.ts": 'export const hello = "Hello";\n' },
    expected: "Hello",
  },
  {
    name: "glob-raw",
    answer: `export async function answer(): Promise<unknown> {
  return import.meta.glob("./mails/*.txt", { eager: true, query: "?raw", import: "default" });
}
`,
    files: { "mails/hello.txt": "Dear reader" },
    expected: { "./mails/hello.txt": "Dear reader" },
  },
  {
    name: "raw",
    answer:
      'import text from "./hello.sql?raw";\nexport async function answer(): Promise<unknown> { return text; }\n',
    files: { "hello.sql": "select `a`, '${b}'" },
    expected: "select `a`, '${b}'",
  },
  {
    name: "url",
    answer:
      'import url from "./pixel.txt?url";\nexport async function answer(): Promise<unknown> { return typeof url; }\n',
    files: { "pixel.txt": "pixel" },
    expected: "string",
  },
  {
    name: "asset",
    answer:
      'import url from "./pixel.svg";\nexport async function answer(): Promise<unknown> { return typeof url; }\n',
    files: { "pixel.svg": '<svg xmlns="http://www.w3.org/2000/svg"/>' },
    expected: "string",
  },
  {
    name: "wasm-init",
    answer:
      'import init from "./add.wasm?init";\nexport async function answer(): Promise<unknown> { return ((await init()).exports["add"] as (a: number, b: number) => number)(2, 3); }\n',
    files: { "add.wasm": add },
    expected: 5,
  },
  {
    name: "worker",
    answer:
      'import Work from "./work.ts?worker";\nexport async function answer(): Promise<unknown> { return typeof Work; }\n',
    files: { "work.ts": "export {};\npostMessage(1);\n" },
    expected: "function",
  },
  {
    name: "json",
    answer:
      'import all, { sku } from "./cloth.json";\nexport async function answer(): Promise<unknown> { return [all, sku]; }\n',
    files: { "cloth.json": '{ "sku": 42, "a-b": [null] }' },
    expected: [{ sku: 42, "a-b": [null] }, 42],
  },
  {
    name: "json-attribute",
    answer:
      'import cloth from "./cloth.json" with { type: "json" };\nexport async function answer(): Promise<unknown> { return cloth; }\n',
    files: { "cloth.json": '{ "sku": 42 }' },
    expected: { sku: 42 },
  },
  {
    name: "css",
    answer:
      'import "./look.css";\nexport async function answer(): Promise<unknown> { return "styled"; }\n',
    files: { "look.css": "p { color: red }" },
    expected: "styled",
  },
  {
    name: "css-module",
    answer:
      'import look from "./look.module.css";\nexport async function answer(): Promise<unknown> { return [Object.keys(look), typeof look["title"]]; }\n',
    files: { "look.module.css": ".title { color: red }" },
    expected: [["title"], "string"],
  },
  {
    name: "css-inline",
    answer:
      'import look from "./look.css?inline";\nexport async function answer(): Promise<unknown> { return look.replace(/\\s+|;/g, ""); }\n',
    files: { "look.css": "p { color: red }" },
    expected: "p{color:red}",
  },
  {
    name: "env",
    answer:
      "return [import.meta.env.SSR, import.meta.env.BASE_URL, import.meta.env.VITE_SHOP, typeof import.meta.env.MODE];",
    files: { "/.env": "VITE_SHOP=tweed\nSHOP_SECRET=hidden\n" },
    expected: [true, "/", "tweed", "string"],
  },
  {
    name: "env-secret",
    answer: 'return [import.meta.env["SHOP_SECRET"] ?? null, process.env["SHOP_SECRET"] ?? null];',
    expected: [null, null],
  },
  {
    name: "define",
    answer:
      "declare const __VERSION__: string;\nexport async function answer(): Promise<unknown> { return __VERSION__; }\n",
    expected: "1.2.3",
  },
  {
    name: "hot",
    answer:
      'import.meta.hot?.accept();\nexport async function answer(): Promise<unknown> { return "kept"; }\n',
    expected: "kept",
  },
  {
    name: "meta",
    answer:
      'return [import.meta.url.startsWith("file:"), import.meta.filename.endsWith(".js") || import.meta.filename.endsWith(".ts"), import.meta.filename.startsWith(import.meta.dirname)];',
    expected: [true, true, true],
  },
  {
    name: "meta-resolve",
    answer: 'return import.meta.resolve("node:fs");',
    expected: "node:fs",
  },
  {
    name: "alias",
    answer:
      'import { aliased } from "@/alias/deep/aliased.ts";\nexport async function answer(): Promise<unknown> { return aliased; }\n',
    files: { "deep/aliased.ts": 'export const aliased = "by alias";\n' },
    expected: "by alias",
  },
  {
    name: "alias-pattern",
    answer:
      'import { aliased } from "~pattern/aliased";\nexport async function answer(): Promise<unknown> { return aliased; }\n',
    files: { "aliased.ts": 'export const aliased = "by pattern";\n' },
    expected: "by pattern",
  },
  {
    name: "node-alias",
    answer: `import { Buffer } from "buffer";
import { StringDecoder } from "node:string_decoder";
import * as punycode from "punycode/";
import { forwarded } from "./forward.ts";
export async function answer(): Promise<unknown> {
  const again = await import("node:buffer");
  const { EOL } = (await import("os")).default;
  return [Buffer.from("a").toString("hex"), again.Buffer === Buffer, new StringDecoder().encoding, EOL, forwarded, punycode.name];
}
`,
    files: {
      "forward.ts": `export * from "timers/promises";
export { default as assert } from "assert";
import * as all from "./forward.ts";
export const forwarded: unknown = Object.keys(all).filter((name) => name.startsWith("a") || name.startsWith("set")).sort();
`,
      "/node_modules/polyfill/package.json": packageJson({ name: "polyfill", type: "module" }),
      "/node_modules/polyfill/index.js":
        'export const name = "polyfill";\nexport default {};\nexport const Buffer = { from: () => "polyfill" };\n',
      "/node_modules/punycode/package.json": packageJson({ name: "punycode", type: "module" }),
      "/node_modules/punycode/index.js": 'export const name = "package";\n',
    },
    expected: [
      "61",
      true,
      "utf8",
      "\n",
      ["assert", "setImmediate", "setInterval", "setTimeout"],
      "package",
    ],
  },
  {
    name: "node-globals",
    answer: "return [typeof process.pid, Buffer.from('a').toString('hex')];",
    expected: ["number", "61"],
  },
  {
    name: "subpath-import",
    answer:
      'import { inner } from "#inner";\nexport async function answer(): Promise<unknown> { return inner; }\n',
    files: {
      "/src/inner.ts": 'export const inner = "by #inner";\n',
      "/package.json": packageJson({ type: "module", imports: { "#inner": "./src/inner.ts" } }),
    },
    expected: "by #inner",
  },
  {
    name: "endings",
    answer: `import { js } from "./js.js";
import { mjs } from "./mjs.mjs";
import { mts } from "./mts.mts";
import { asJs } from "./as-js.js";
import { bare } from "./bare";
import { index } from "./folder";
export async function answer(): Promise<unknown> { return [js, mjs, mts, asJs, bare, index]; }
`,
    files: {
      "js.js": "export const js = 1;\n",
      "mjs.mjs": "export const mjs = 2;\n",
      "mts.mts": "export const mts: number = 3;\n",
      "as-js.ts": "export const asJs: number = 4;\n",
      "bare.ts": "export const bare: number = 5;\n",
      "folder/index.ts": "export const index: number = 6;\n",
    },
    expected: [1, 2, 3, 4, 5, 6],
  },
  {
    name: "jsx",
    answer:
      'import { view } from "./view.tsx";\nexport async function answer(): Promise<unknown> { return view(); }\n',
    files: {
      "view.tsx":
        "/** @jsxRuntime classic */\n/** @jsx h */\nconst h = (tag: string, { id }: { id: string }, ...children: unknown[]): unknown => [tag, id, children];\nexport const view = (): unknown => <p id={String(1)}>text</p>;\n",
    },
    expected: ["p", "1", ["text"]],
  },
  {
    name: "builtins",
    answer:
      'import { join } from "path";\nimport fs from "node:fs";\nimport * as url from "node:url";\nexport async function answer(): Promise<unknown> { return [join("a", "b"), typeof fs.readFileSync, typeof url.fileURLToPath]; }\n',
    expected: ["a/b", "function", "function"],
  },
  {
    name: "reexports",
    answer:
      'import { one, two, three, rest } from "./all.ts";\nexport async function answer(): Promise<unknown> { return [one, two, three, rest.four]; }\n',
    files: {
      "all.ts":
        'export { one } from "./one.ts";\nexport { one as two } from "./one.ts";\nexport { default as three } from "./one.ts";\nexport * as rest from "./rest.ts";\n',
      "one.ts": "export const one = 1;\nexport default 3;\n",
      "rest.ts": "export const four = 4;\n",
    },
    expected: [1, 1, 3, 4],
  },
  {
    name: "live-binding",
    answer:
      'import { count, more } from "./count.ts";\nexport async function answer(): Promise<unknown> { const before = count; more(); return count - before; }\n',
    files: {
      "count.ts": "export let count = 0;\nexport function more(): void {\n  count++;\n}\n",
    },
    expected: 1,
  },
  {
    name: "circle",
    answer:
      'import { left } from "./left.ts";\nexport async function answer(): Promise<unknown> { return left(3); }\n',
    files: {
      "left.ts":
        'import { right } from "./right.ts";\nexport function left(n: number): string {\n  return n === 0 ? "" : `l${right(n - 1)}`;\n}\n',
      "right.ts":
        'import { left } from "./left.ts";\nexport const right = (n: number): string => (n === 0 ? "" : `r${left(n - 1)}`);\n',
    },
    expected: "lrl",
  },
  {
    name: "top-level-await",
    answer:
      'import { setTimeout as pause } from "node:timers/promises";\nimport { late } from "./late.ts";\nconst own = await pause(1, "own");\nexport async function answer(): Promise<unknown> { return [own, late]; }\n',
    files: {
      "late.ts":
        "export const late = await new Promise((done) => setTimeout(() => done('late'), 5));\n",
    },
    expected: ["own", "late"],
  },
  {
    name: "class-features",
    answer: `class Box {
  static #count = 0;
  static { Box.#count = 40; }
  readonly #own = 2;
  static total(box: Box): number { return #own in box ? Box.#count + box.#own : 0; }
}
export async function answer(): Promise<unknown> { return Box.total(new Box()); }
`,
    expected: 42,
  },
  {
    name: "enum-and-namespace",
    answer: `enum Colour { Red = "red" }
namespace Inner { export const value = 1; }
class Point { constructor(readonly x: number) {} }
export async function answer(): Promise<unknown> { return [Colour.Red, Inner.value, new Point(2).x]; }
`,
    expected: ["red", 1, 2],
  },
  {
    name: "type-only",
    answer:
      'import { type Shape, side } from "./shape.ts";\nimport type { Other } from "./no-such-file.ts";\nexport async function answer(): Promise<unknown> { const shape: Shape = { side }; return (shape as Other & Shape).side; }\n',
    files: { "shape.ts": "export interface Shape { side: number }\nexport const side = 3;\n" },
    expected: 3,
  },
  {
    name: "decorators",
    answer:
      'import { Shop } from "./shop.ts";\nexport async function answer(): Promise<unknown> { return new Shop().open(); }\n',
    files: {
      "shop.ts":
        'const loud = (value: string): string => value.toUpperCase();\nexport class Shop {\n  /* a plugin compiles */ @loud\n  open(): string { return "open"; }\n}\nvoid loud;\n',
    },
    expected: "OPEN",
  },
  {
    name: "using",
    answer: `const log: string[] = [];
  {
    using one = { [Symbol.dispose]: () => void log.push("closed") };
    log.push(typeof one);
  }
  return log;`,
    expected: ["object", "closed"],
  },
  {
    name: "await-using",
    answer: `class Handle implements AsyncDisposable {
  async [Symbol.asyncDispose](): Promise<void> {}
  read(): string { return "row"; }
}
export async function answer(): Promise<unknown> { await using handle = new Handle(); return handle.read(); }
`,
    expected: "row",
  },
  {
    name: "for-using",
    answer: `const log: number[] = [];
  const open = (n: number): Disposable => ({ [Symbol.dispose]: () => void log.push(n) });
  for (using each of [open(1), open(2)]) void each;
  for (await using each of [open(3)]) void each;
  return log;`,
    expected: [1, 2, 3],
  },
  {
    name: "using-in-import",
    answer:
      'import { closed } from "./resource.ts";\nexport async function answer(): Promise<unknown> { return closed; }\n',
    files: {
      "resource.ts":
        "export const closed: string[] = [];\n{\n  using own = { [Symbol.dispose]: () => void closed.push('own') };\n  void own;\n}\n",
    },
    expected: ["own"],
  },
  {
    name: "package-esm",
    answer:
      'import value, { name } from "esm-only";\nexport async function answer(): Promise<unknown> { return [value, name]; }\n',
    files: {
      "/node_modules/esm-only/package.json": packageJson({
        name: "esm-only",
        type: "module",
        exports: "./index.js",
      }),
      "/node_modules/esm-only/index.js": 'export const name = "esm";\nexport default 1;\n',
    },
    expected: [1, "esm"],
  },
  {
    name: "package-commonjs",
    answer:
      'import whole, { name } from "cjs-only";\nexport async function answer(): Promise<unknown> { return [name, whole.name]; }\n',
    files: {
      "/node_modules/cjs-only/package.json": packageJson({ name: "cjs-only", main: "main.js" }),
      "/node_modules/cjs-only/main.js": 'exports.name = "cjs";\n',
    },
    expected: ["cjs", "cjs"],
  },
  {
    name: "package-commonjs-default",
    answer:
      'import made from "cjs-default";\nexport async function answer(): Promise<unknown> { return typeof made === "function" ? made() : (made as { default(): unknown }).default(); }\n',
    files: {
      "/node_modules/cjs-default/package.json": packageJson({ name: "cjs-default" }),
      "/node_modules/cjs-default/index.js":
        'Object.defineProperty(exports, "__esModule", { value: true });\nexports.default = () => "made";\n',
    },
    expected: "made",
  },
  {
    name: "package-conditions",
    answer:
      'import { which } from "conditions";\nexport async function answer(): Promise<unknown> { return which; }\n',
    files: {
      "/node_modules/conditions/package.json": packageJson({
        name: "conditions",
        exports: { browser: "./browser.js", node: { import: "./node.mjs", require: "./node.cjs" } },
      }),
      "/node_modules/conditions/browser.js": 'export const which = "browser";\n',
      "/node_modules/conditions/node.mjs": 'export const which = "node";\n',
      "/node_modules/conditions/node.cjs": 'exports.which = "required";\n',
    },
    expected: "node",
  },
  {
    name: "package-json-file",
    answer:
      'import { words } from "with-json";\nexport async function answer(): Promise<unknown> { return words; }\n',
    files: {
      "/node_modules/with-json/package.json": packageJson({ name: "with-json" }),
      "/node_modules/with-json/index.js": 'exports.words = require("./words.json");\n',
      "/node_modules/with-json/words.json": '["tweed"]',
    },
    expected: ["tweed"],
  },
  {
    name: "package-typescript",
    answer:
      'import { typed } from "in-typescript";\nexport async function answer(): Promise<unknown> { return typed(2); }\n',
    files: {
      "/node_modules/in-typescript/package.json": packageJson({
        name: "in-typescript",
        type: "module",
        exports: "./index.ts",
      }),
      "/node_modules/in-typescript/index.ts":
        "export const typed = (n: number): number => n * 2;\n",
    },
    expected: 4,
  },
  {
    name: "create-require",
    answer:
      'import { createRequire } from "node:module";\nconst require = createRequire(import.meta.url);\nexport async function answer(): Promise<unknown> { return [require("required").name, typeof require("node:os").cpus]; }\n',
    files: {
      "/node_modules/required/package.json": packageJson({ name: "required" }),
      "/node_modules/required/index.js": 'exports.name = "required";\n',
    },
    expected: ["required", "function"],
  },
  {
    name: "commonjs-names",
    answer:
      "return [__dirname === import.meta.dirname, __filename === import.meta.filename, require('node:path').sep, require('required').name, typeof module, typeof exports];",
    expected: [true, true, "/", "required", "undefined", "undefined"],
  },
  {
    name: "commonjs-names-of-its-own",
    answer: `import { createRequire } from "node:module";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
const require = createRequire(import.meta.url);
var __filename = fileURLToPath(import.meta.url);
const __dirname = dirname(__filename);
export async function answer(): Promise<unknown> { return [require("required").name, __dirname === import.meta.dirname]; }
`,
    expected: ["required", true],
  },
  {
    name: "import-defer",
    answer:
      'import defer * as late from "./late.ts";\nexport async function answer(): Promise<unknown> { return late.value; }\n',
    files: { "late.ts": "export const value = 1;\n" },
    expected: 1,
  },
  {
    name: "odd-folder",
    folder: "odd ünï 50% %20 (x) [y] +&',;=@~",
    answer:
      'import { odd } from "./ödd file.ts";\nexport async function answer(): Promise<unknown> { return [odd, (await import("./ödd file.ts")).odd]; }\n',
    files: { "ödd file.ts": "export const odd: number = 1;\n" },
    expected: [1, 1],
  },
  {
    name: "errors",
    answer:
      'export class Empty extends Error {}\nexport async function answer(): Promise<unknown> { try { throw new Empty("none left"); } catch (error) { return [error instanceof Empty, (error as Error).constructor.name]; } }\n',
    expected: [true, "Empty"],
  },
  {
    name: "regular-expressions",
    answer:
      'return ["Ab".replace(/(?<first>a)/iv, "[$<first>]"), "x1".match(/(?<=x)\\d/d)?.indices?.[0]];',
    expected: ["[A]b", [1, 2]],
  },
];

export const moduleFiles: Files = {
  "vite.config.ts": `const ids: Record<string, string> = ${JSON.stringify(virtualIds)};
const names = new Map(Object.entries(ids).map(([name, id]) => [id, name]));
export default {
  define: { __VERSION__: JSON.stringify("1.2.3") },
  resolve: {
    alias: [
      { find: "@", replacement: import.meta.dirname + "/src/f" },
      { find: /^(?:node:)?(?:buffer|assert|os|timers\\/promises)$/, replacement: "polyfill" },
      { find: "string_decoder", replacement: "polyfill" },
      { find: "node:string_decoder", replacement: import.meta.dirname + "/node_modules/polyfill/index.js" },
      { find: /^~pattern\\/(.*)$/, replacement: import.meta.dirname + "/src/f/alias-pattern/$1.ts" },
    ],
  },
  plugins: [
    {
      name: "made-up",
      resolveId: (source: string) => ids[source.slice("made-up:".length)],
      load: (id: string) => names.has(id) ? \`export const id = \${JSON.stringify(names.get(id))};\` : undefined,
    },
    {
      // As the plugin of this name does in development.
      name: "vite-plugin-node-polyfills:inject",
      apply: "serve",
      transform: (code: string, id: string) =>
        id.includes("/node-globals/") ? \`import process, { Buffer } from "polyfill"; \${code}\` : undefined,
    },
    {
      name: "decorators",
      enforce: "pre",
      transform: (code: string, id: string) =>
        id.endsWith("/shop.ts") ? code.replace(/\\/\\*.*\\*\\/ @(\\w+)\\s+(\\w+)\\((.*?)\\): string \\{ return (.*?); \\}/, "$2(): string { return $1($4); }") : undefined,
    },
  ],
};
`,
  ...Object.fromEntries(moduleFixtures.flatMap(filesOf)),
};

function filesOf({ name, folder = name, answer, files = {} }: ModuleFixture): [string, string][] {
  const beside = `src/f/${folder}`;
  const text = answer.includes("export async function answer")
    ? answer
    : `export async function answer(): Promise<unknown> {\n  ${answer}\n}\n`;
  return [
    [`${beside}/answer.ts`, text],
    [
      `segments/${name}.segment.json`,
      JSON.stringify({ [`./f/${folder}/answer`]: { answer: { access: "public" } } }),
    ],
    ...Object.entries(files).map(([path, content]): [string, string] => [
      path.startsWith("/") ? path.slice(1) : `${beside}/${path}`,
      content,
    ]),
  ];
}
