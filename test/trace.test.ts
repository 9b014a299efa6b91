// The changes that `npm run trace` makes to sources before it runs them.

import { execFile, fork } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";

import { expect, it } from "vitest";

import { instrument } from "../lab/trace/instrument.mjs";
import { root } from "./_sources.ts";
import { buildPackage } from "./process/_application.ts";

const source = `import { double } from "./double.ts";

const box = (n: number) => ({ n });
const chain = (a: number) => (b: number) => /* both */ a + b;
const cast = (value: unknown) => value as number;
function strict(this: unknown): unknown {
  "use strict"
  return this;
}
function late(n: number, added = () => n + 1, [doubled = 0] = [double(n)]): number {
  return added() + doubled;
}
class Base {
  readonly n: number;
  constructor(n: number) {
    this.n = n;
  }
}
class Derived extends Base {
  static made: number;
  static {
    Derived.made = double(1);
  }
  #hidden = double(2);
  field = (): number => this.n;
  constructor() {
    const n = double(3);
    super(n);
  }
  get hidden(): number {
    return this.#hidden;
  }
  set hidden(n: number) {
    this.#hidden = n;
  }
  static async *slowly(): AsyncGenerator<number> {
    yield 1;
    yield* [2, 3];
  }
  *[Symbol.iterator](): Generator<number> {
    yield this.n;
  }
}
const soon = async (n: number): Promise<number> => (await Promise.resolve(n)) * 2;
const object = {
  method() {
    return this === object;
  },
  get got() {
    return arguments.length;
  },
};
function empty(): void {}

const derived = new Derived();
derived.hidden = 8;
const slow: number[] = [];
for await (const n of Derived.slowly()) slow.push(n);
const unused = [1].map(function* () {
  yield 1;
});
export const results = [
  box(1).n, chain(1)(2), cast(4), strict.call(undefined) === undefined, late(5),
  derived.hidden, derived.field(), [...derived], Derived.made, slow, await soon(4),
  object.method(), object.got, empty() === undefined, unused.length,
];
`;

it("An instrumented source behaves as before, and tells the counter of each function that it enters, in order", async () => {
  const folder = await mkdtemp(join(tmpdir(), "seamline-instrument-"));
  try {
    const counter = join(folder, "counter.mjs");
    const double = "export function double(n: number): number {\n  return n * 2;\n}\n";
    await writeFile(
      counter,
      "export const places = [];\nexport const enter = (place) => void places.push(place);\n",
    );
    await writeFile(join(folder, "package.json"), '{ "type": "module" }');
    await writeFile(
      join(folder, "double.js"),
      instrument({ path: "double.ts", text: double }, counter),
    );
    await writeFile(
      join(folder, "main.js"),
      instrument({ path: "main.ts", text: source }, counter),
    );
    await writeFile(
      join(folder, "run.js"),
      'import { places } from "./counter.mjs";\nimport { results } from "./main.js";\nconsole.log(JSON.stringify({ results, places }));\n',
    );
    const { stdout } = await promisify(execFile)(process.execPath, [join(folder, "run.js")]);
    const { results, places } = JSON.parse(stdout) as { results: unknown; places: string[] };
    expect(results).toEqual([1, 3, 4, true, 16, 8, 6, [6], 2, [1, 2, 3], 8, true, 0, true, 1]);
    const counted = "double.ts:1:1 double";
    expect(places).toEqual([
      counted,
      "main.ts:26:3 Derived.constructor",
      counted,
      "main.ts:15:3 Base.constructor",
      counted,
      "main.ts:33:3 Derived.hidden",
      "main.ts:36:3 Derived.slowly",
      "main.ts:3:13 box",
      "main.ts:4:15 chain",
      "main.ts:4:30 (anonymous)",
      "main.ts:5:14 cast",
      "main.ts:6:1 strict",
      counted,
      "main.ts:10:1 late",
      "main.ts:10:34 added",
      "main.ts:30:3 Derived.hidden",
      "main.ts:25:11 Derived.field",
      "main.ts:40:3 Derived.[Symbol.iterator]",
      "main.ts:44:14 soon",
      "main.ts:46:3 method",
      "main.ts:49:3 got",
      "main.ts:53:1 empty",
    ]);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});

it("A directive stays the first statement of its function", () => {
  const text = 'function strict() {\n  "use strict"\n}\n';
  expect(instrument({ path: "strict.ts", text }, "./counter.mjs")).toMatch(
    /\{\s*"use strict";\s*;?\s*\$enter\("strict\.ts:1:1 strict"\);/,
  );
});

it("The counter leaves out what timers do", async () => {
  const folder = await mkdtemp(join(tmpdir(), "seamline-counter-"));
  const file = join(folder, "run.mjs");
  const counter = pathToFileURL(join(root, "lab/trace/counter.mjs")).href;
  await writeFile(
    file,
    `import { enter } from "${counter}";
setInterval(() => {}, 1_000); // Its channel alone keeps no process.
enter("before");
process.on("message", (message) => {
  if (message !== "go") return;
  enter("call");
  setTimeout(() => {
    enter("timer");
    setImmediate(() => {
      enter("later");
      process.send("done");
    });
  });
});
`,
  );
  const child = fork(file);
  const ask = async (word: string): Promise<unknown> => {
    const answer = once(child, "message");
    child.send(word);
    return (await answer)[0];
  };
  try {
    await ask("record");
    expect(await ask("go")).toBe("done");
    expect(await ask("report")).toEqual({ entered: ["call", "later"] });
  } finally {
    child.kill();
    await rm(folder, { recursive: true, force: true });
  }
});

it("npm run trace prints the files and functions of a call in each process", async () => {
  buildPackage();
  const script = join(root, "lab/trace.mjs");
  const { stdout } = await promisify(execFile)(process.execPath, [
    script,
    "--only",
    "post",
    "--list",
  ]);
  expect(stdout).toMatch(/^# post: standalone$/m);
  expect(stdout).toMatch(/^src\/roles\/runs\/runner\.ts$/m);
}, 240_000);

it("npm run trace -- --folders prints the sizes of all four rooms, and no folders that import each other", async () => {
  const script = join(root, "lab/trace.mjs");
  const { stdout } = await promisify(execFile)(process.execPath, [script, "--folders"]);
  for (const name of ["src", "client", "server", "console"]) expect(stdout).toContain(`${name}/**`);
  expect(stdout).toMatch(/│ functions\s*│ types\s*│/);
  expect(stdout).toContain("0 pairs of folders import each other");
}, 60_000);
