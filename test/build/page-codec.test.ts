// Whether a built page loads /svc/codec.js from the start: if what it calls carries values that need it.

import { expect, it } from "vitest";
import { runtimeHash } from "../../server/base/runtime-files.ts";
import { createFixture } from "./_fixture.ts";

const codec = `<link rel="modulepreload" href="/svc/${runtimeHash()}/codec.js">`;
const html = '<!doctype html><script type="module" src="/src/main.ts"></script>';
const main = 'import { call } from "./called.ts";\ndocument.title = String(call);\n';

/** Whether the page of an application preloads the codec. */
async function preloads(files: Record<string, string>): Promise<boolean> {
  const app = createFixture({
    "index.html": html,
    "src/main.ts": main,
    "server.segment.json": '{ "./called": { "call": { "access": "public" } } }',
    ...files,
  });
  await app.build();
  return app.read("dist/browser/index.html").includes(codec);
}

const money = "export class Money { amount = 1; }\n";

it.each<[string, boolean, Record<string, string>]>([
  [
    "plain data and dates",
    false,
    {
      "src/called.ts":
        "interface Row { at: Date; next?: Row; note?: string | null }\nexport async function call(at?: Date): Promise<readonly Row[]> { return at ? [] : []; }\n",
    },
  ],
  [
    "an answer with a Map inside a type with a name",
    true,
    {
      "src/called.ts":
        "export interface Shelf { list: { of: Map<string, number> }[] }\nexport async function call(): Promise<Shelf> { return { list: [] }; }\n",
    },
  ],
  [
    "an instance as an argument",
    true,
    {
      "src/money.ts": money,
      "src/called.ts":
        'import { Money } from "./money.ts";\nexport async function call(money: Money): Promise<number> { return money.amount; }\n',
    },
  ],
  [
    "a stream of bytes",
    true,
    {
      "src/called.ts":
        "export async function* call(): AsyncGenerator<Uint8Array> { yield new Uint8Array(1); }\n",
    },
  ],
  [
    "a file to send, which a user chooses first",
    false,
    {
      "src/called.ts":
        "export async function call(file: File, more: FormData): Promise<number> { return more ? file.size : 0; }\n",
    },
  ],
  [
    "a Map in the answer to a procedure that no page can call",
    false,
    {
      "src/called.ts":
        'import { inner } from "./inner.ts";\nexport async function call(): Promise<number> { return (await inner()).size; }\n',
      "src/inner.ts":
        "export async function inner(): Promise<Map<string, number>> { return new Map(); }\n",
      "server.segment.json":
        '{ "./called": { "call": { "access": "public" } }, "./inner": { "inner": { "access": "public" } } }',
    },
  ],
  [
    "a Map in the answer to a procedure of the page itself",
    false,
    {
      "src/called.ts":
        "export async function call(): Promise<Map<string, number>> { return new Map(); }\n",
      "src/main.ts": `import { startClient } from "seamline/client";\n${main}await startClient("server");\n`,
    },
  ],
  [
    "anything, in an application whose pages have no class",
    false,
    {
      "src/called.ts":
        "export async function call(value: unknown): Promise<unknown> { return value; }\n",
    },
  ],
  [
    "anything, in an application whose pages have a class",
    true,
    {
      "src/money.ts": money,
      "src/called.ts":
        "export async function call(value: unknown): Promise<unknown> { return value; }\n",
      "src/main.ts": `import { Money } from "./money.ts";\n${main}console.log(new Money());\n`,
    },
  ],
  [
    "plain data, in an application whose pages have a class of errors",
    false,
    {
      "src/torn.ts": "export class Torn extends Error {}\n",
      "src/called.ts": "export async function call(): Promise<unknown> { return 1; }\n",
      "src/main.ts": `import { Torn } from "./torn.ts";\n${main}console.log(new Torn());\n`,
    },
  ],
])("a page whose calls carry %s: preloads the codec: %s", async (_, isPreloaded, files) => {
  expect(await preloads(files)).toBe(isPreloaded);
});
