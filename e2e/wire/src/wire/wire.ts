// The procedures of the wire cases: segment `wire` runs on one node, `second` on another.

import * as seamline from "seamline";
import { OutOfStock, Refused } from "../people/people.ts";
import { wireCases } from "../people/wire-cases.ts";
import { second } from "./second.ts";

export async function echo(value: unknown): Promise<unknown> {
  return value;
}

/** Creates the value of a case on the node. */
export async function example(name: string): Promise<unknown> {
  const found = wireCases.find((wireCase) => wireCase.name === name);
  if (found === undefined) throw new seamline.NotFound(`no case '${name}'`);
  return found.value;
}

/** Throws an error of the class with this name. */
export async function fail(name: string): Promise<never> {
  if (name === "OutOfStock") throw Object.assign(new OutOfStock("tea"), { since: new Date(0) });
  if (name === "Refused") throw new Refused("no", 7);
  const Kind = (seamline as Readonly<Record<string, unknown>>)[name] as new (
    message: string,
  ) => Error;
  throw new Kind(`by ${name}`);
}

/** Takes every kind of parameter. */
export async function kinds(
  plain: string,
  optional: Date = new Date(0),
  { inner, other = 5 }: { inner: bigint; other?: number },
  [first]: readonly [Map<string, number>],
  ...rest: readonly unknown[]
): Promise<readonly unknown[]> {
  return [plain, optional, inner, other, first, rest];
}

/** Calls a procedure of another node, which calls back to this node. */
export async function first(how: string): Promise<unknown> {
  return await second(how);
}

export async function third(how: string): Promise<unknown> {
  if (how === "text") throw how;
  throw how === "OutOfStock" ? new OutOfStock("tea") : new seamline.Forbidden(how);
}

export async function hidden(): Promise<string> {
  return "private";
}
