// Arguments of `seamline call`. `name=text` is text, as in a query: the service converts it by the
// type of the parameter. `name:=json` is JSON. Parsing any text as JSON would turn the SKU 42 into
// a number.

import { text as readText } from "node:stream/consumers";
import type { Terminal } from "../base/terminal.ts";
import { UsageError } from "./failure.ts";

/** The options of `call` that give arguments. */
export interface ArgumentOptions {
  readonly arg?: readonly string[];
  readonly args?: string;
}

/** Where arguments go: into the query of a GET, or, if one is JSON, into the body of a POST. */
export interface CallArguments {
  readonly query: [string, string][];
  readonly body?: string;
}

export async function readArguments(
  { arg = [], args }: ArgumentOptions,
  { stdin }: Terminal,
): Promise<CallArguments> {
  const parsed = arg.map(readArgument);
  const texts = parsed.filter((argument): argument is TextArgument => "text" in argument);
  if (args === undefined && texts.length === parsed.length)
    return { query: texts.map(({ name, text }) => [name, text]) };
  const object = args === undefined ? {} : readObject(args === "-" ? await readAll(stdin) : args);
  // Without a prototype, `__proto__` is a name like any other, and the service decides about it.
  const body: Record<string, unknown> = Object.assign(Object.create(null), object);
  for (const { name } of parsed) {
    const values = parsed
      .filter((argument) => argument.name === name)
      .map((argument) => ("text" in argument ? argument.text : argument.value));
    // As in a query, a name that is repeated makes a list.
    body[name] = values.length > 1 ? values : values[0];
  }
  return { query: [], body: JSON.stringify(body) };
}

interface TextArgument {
  readonly name: string;
  readonly text: string;
}

function readArgument(
  argument: string,
): TextArgument | { readonly name: string; readonly value: unknown } {
  const [, name = "", sign, text = ""] = /^([^=:]+)(:?=)(.*)$/s.exec(argument) ?? [];
  if (sign === undefined)
    throw new UsageError(`--arg: expected name=text or name:=json, found '${argument}'`);
  if (sign === "=") return { name, text };
  try {
    return { name, value: JSON.parse(text) as unknown };
  } catch (error) {
    throw new UsageError(
      `--arg ${name}:= isn't JSON (${(error as Error).message}). For text: ${name}=${text}`,
    );
  }
}

function readObject(text: string): object {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new UsageError(`--args isn't JSON: ${(error as Error).message}`);
  }
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return value;
  throw new UsageError('--args: expected a JSON object of parameters, such as {"sku":"42"}');
}

async function readAll(stdin: Terminal["stdin"]): Promise<string> {
  if (stdin === undefined || stdin.isTTY === true)
    throw new UsageError("--args -: there is nothing on standard input");
  return await readText(stdin);
}
