// Arguments of `seamline call`. Chosen, one rule: `name=text` is text, as in a query, and the service makes of it what the parameter's
// type says; `name:=json` is JSON. "JSON where it parses" was weighed, and would make a number of the article 42.

import { text as textOfStream } from "node:stream/consumers";
import type { CallOptions } from "./program.ts";
import { type Terminal, UsageError } from "./terminal.ts";

/** Where arguments go: the query of a GET, or, as soon as one is JSON, the body of a POST. */
export interface CallArguments {
  readonly query: [string, string][];
  readonly body?: string;
}

export async function readArguments(
  { arg = [], args }: CallOptions,
  { stdin }: Terminal,
): Promise<CallArguments> {
  const given = arg.map(readArgument);
  const texts = given.filter((one): one is TextArgument => "text" in one);
  if (args === undefined && texts.length === given.length)
    return { query: texts.map(({ name, text }) => [name, text]) };
  const whole = args === undefined ? {} : objectIn(args === "-" ? await readAll(stdin) : args);
  // Without a prototype, `__proto__` is a name like any other, and the service says what it thinks of it.
  const body: Record<string, unknown> = Object.assign(Object.create(null), whole);
  for (const one of given) {
    const value = "text" in one ? one.text : one.value;
    const before = given.filter(({ name }) => name === one.name);
    // As in a query: a name that is given more than once is a list.
    body[one.name] =
      before.length > 1
        ? before.map((other) => ("text" in other ? other.text : other.value))
        : value;
  }
  return { query: [], body: JSON.stringify(body) };
}

interface TextArgument {
  readonly name: string;
  readonly text: string;
}

function readArgument(
  given: string,
): TextArgument | { readonly name: string; readonly value: unknown } {
  const [, name = "", sign, text = ""] = /^([^=:]+)(:?=)(.*)$/s.exec(given) ?? [];
  if (sign === undefined)
    throw new UsageError(`--arg: expected name=text or name:=json, found '${given}'`);
  if (sign === "=") return { name, text };
  try {
    return { name, value: JSON.parse(text) as unknown };
  } catch (error) {
    throw new UsageError(
      `--arg ${name}:= is no JSON (${(error as Error).message}). For text: ${name}=${text}`,
    );
  }
}

function objectIn(text: string): object {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new UsageError(`--args is no JSON: ${(error as Error).message}`);
  }
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return value;
  throw new UsageError('--args: expected a JSON object of parameters, such as {"sku":"42"}');
}

async function readAll(stdin: Terminal["stdin"]): Promise<string> {
  if (stdin === undefined || stdin.isTTY === true)
    throw new UsageError("--args -: there is nothing on standard input");
  return await textOfStream(stdin);
}
