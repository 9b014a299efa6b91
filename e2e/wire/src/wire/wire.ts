// What the cases go through: segment `wire` holds these on one node, `second` on another.

import * as seamline from "seamline";
import { OutOfStock, Refused } from "../people/people.ts";
import { wireCases } from "../people/wire-cases.ts";
import { second } from "./second.ts";

export async function echo(value: unknown): Promise<unknown> {
  return value;
}

/** The value of a case, made on the node. */
export async function example(name: string): Promise<unknown> {
  const found = wireCases.find((one) => one.name === name);
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

/** Every kind of parameter (§2.1). */
export async function kinds(
  plain: string,
  optional: Date = new Date(0),
  { inner, other = 5 }: { inner: bigint; other?: number },
  [first]: readonly [Map<string, number>],
  ...rest: readonly unknown[]
): Promise<readonly unknown[]> {
  return [plain, optional, inner, other, first, rest];
}

/** Calls a procedure of another node, which calls one of this node again. */
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
