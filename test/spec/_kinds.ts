// The procedures of e2e/wire with every kind of parameter, built and run as nodes behind gateway
// and proxy.

import { readFileSync } from "node:fs";
import { join } from "node:path";

import { afterAll, beforeAll } from "vitest";

import type { IncomingResponse } from "../../src/base/ports.ts";
import { ask } from "../_cluster.ts";
import { type BuiltDeployment, deployBuilt } from "./_built.ts";

const source = (name: string): string =>
  readFileSync(join(import.meta.dirname, `../../e2e/wire/src/calls/${name}.ts`), "utf8");

const person = `export class Person {
  readonly #name: string;
  born: Date | undefined;
  constructor(name: string, born?: Date) { this.#name = name; this.born = born; }
  get name(): string { return this.#name; }
}
`;
const kinds = [
  "none",
  "plain",
  "optional",
  "object",
  "whole",
  "array",
  "rest",
  "mixed",
  "typed",
  "lists",
  "inherited",
  "edition",
  "meet",
  "half",
];
const open = { access: "public" };

export type Answer = IncomingResponse & { text: string };

export interface Kinds {
  /** A POST of these arguments. */
  readonly post: (
    name: string,
    args: object | string,
    headers?: Readonly<Record<string, string>>,
  ) => Promise<Answer>;
  readonly get: (path: string, headers?: Readonly<Record<string, string>>) => Promise<Answer>;
}

/** Built once for the tests of a file; called through the proxy. */
export function useKinds(): Kinds {
  let built: BuiltDeployment | undefined;
  beforeAll(async () => {
    built = await deployBuilt({
      "src/calls/kinds.ts": source("kinds"),
      "src/calls/second.ts": source("second"),
      "src/calls/results.ts": source("results"),
      "src/people/people.ts": person,
      "kinds.segment.json": JSON.stringify({
        "./calls/kinds": Object.fromEntries(kinds.map((name) => [name, open])),
        "./calls/results": { result: open },
      }),
      "second.segment.json": JSON.stringify({ "./calls/second": { second: open } }),
    });
  }, 60_000);
  afterAll(() => built?.remove());
  const json = { "content-type": "application/json" };
  return {
    post: (name, args, headers = {}) =>
      ask(
        built!.proxy,
        "POST",
        `/rpc/calls/${name}`,
        { ...json, ...headers },
        typeof args === "string" ? args : JSON.stringify(args),
      ),
    get: (path, headers = {}) => ask(built!.proxy, "GET", `/rpc/calls/${path}`, headers),
  };
}

export const encoded = { "x-svc-data-encoding": "serialized" } as const;
