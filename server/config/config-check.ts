// Finds all mistakes in a configuration, each with its key and the way out.

import * as v from "valibot";
import { nearest, type Problem } from "../../src/base/problem.ts";
import { procedureFields } from "../../src/runtime/segment-route.ts";
import { schemeProblem } from "./config-address.ts";
import { directoryProblems } from "./config-directory.ts";
import { ownAddressProblems } from "./config-own-address.ts";
import { alternatives, modes, schemas } from "./config-schema.ts";
import type { Config, Mode } from "./config-types.ts";
import {
  factsOf,
  keysOf,
  kindsOf,
  schemasAt,
  schemasBelow,
  type SchemaNode,
} from "./schema-key.ts";

type Values = Readonly<Record<string, unknown>>;
type Words = Pick<Problem, "message" | "hint">;

/** The configuration with its defaults; problems are added to `problems`. */
export function checkConfig(
  values: Values,
  mode: Mode,
  { file, isMounted }: { readonly file: string; readonly isMounted: boolean },
  problems: Problem[],
): Config | undefined {
  problems.push(...unknownKeys(values, mode, file));
  const members = memberProblems(values, schemas[mode], file);
  problems.push(...members.refused);
  const result = v.safeParse(schemas[mode], values);
  for (const issue of result.issues ?? []) {
    // A name that is empty would leave a dot.
    const path = v.getDotPath(issue)?.replace(/\.$/, "");
    // An unset variable, for one, has been reported already.
    if (path !== undefined && problems.some((problem) => isWithin(path, problem.path))) continue;
    // valibot stops at the first unknown key, and for a union it only says that no kind fits.
    if (path !== undefined && members.unknown.some((problem) => isWithin(problem.path ?? "", path)))
      continue;
    problems.push({
      file,
      ...(path !== undefined && { path }),
      ...wordsOf(issue, path ?? "", schemas[mode]),
    });
  }
  problems.push(...members.unknown);
  const keys = alternatives[mode];
  if (keys !== undefined && keys.filter((key) => key in values).length !== 1)
    problems.push({
      file,
      path: keys[0] ?? "",
      message: `a ${mode} needs one of ${listed(keys)}, and no more`,
    });
  problems.push(
    ...directoryProblems(values, mode, file).filter(
      ({ path }) => !problems.some((problem) => problem.path === path),
    ),
  );
  problems.push(
    ...ownAddressProblems(values, file).filter(
      ({ path = "" }) => !problems.some((problem) => isWithin(path, problem.path)),
    ),
  );
  const { url, tls } = values;
  if (!isMounted && typeof url === "string" && !problems.some(({ path }) => path === "url")) {
    const problem = schemeProblem(url, tls !== undefined);
    if (problem !== undefined) problems.push({ file, path: "url", ...problem });
  }
  return result.success ? result.output : undefined;
}

/** `'a', 'b' and 'c'`. */
function listed(keys: readonly string[]): string {
  const quoted = keys.map((key) => `'${key}'`);
  return `${quoted.slice(0, -1).join(", ")} and ${quoted.at(-1)}`;
}

function isWithin(path: string, parent: string | undefined): boolean {
  return path === parent || path.startsWith(`${parent}.`);
}

/** The problem of a `mode` that is missing or unknown. */
export function modeProblem(mode: unknown, file: string): Problem {
  const near = typeof mode === "string" ? nearest(mode, modes) : undefined;
  return {
    file,
    path: "mode",
    message:
      mode === undefined
        ? "it is missing"
        : `expected one of ${modes.join(", ")}, found ${shown(mode)}`,
    hint:
      near === undefined ? `Set 'mode' to one of ${modes.join(", ")}` : `Did you mean '${near}'?`,
  };
}

/** `a string`, `an array`: the kind of a value that was found. */
export function kindOf(value: unknown): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "an array";
  return typeof value === "object" ? "an object" : `a ${typeof value}`;
}

function shown(value: unknown): string {
  return JSON.stringify(value) ?? String(value);
}

function wordsOf(issue: v.BaseIssue<unknown>, path: string, schema: SchemaNode): Words {
  const names = path.split(".");
  const within = (length: number): readonly SchemaNode[] =>
    schemasAt(schema, names.slice(0, length).join("."));
  const at = within(names.length);
  // valibot reports a missing key for the object around it, without the message of the key itself.
  if (issue.received === "undefined") {
    const hint = at.flatMap((key) => factsOf(key)?.missing ?? [])[0];
    return { message: "it is missing", ...(hint !== undefined && { hint }) };
  }
  const { input, message } = issue;
  // Messages end up in logs, so secrets must not be in them.
  const isSecret = names.some((_, index) =>
    within(index + 1).some((key) => factsOf(key)?.isSecret === true),
  );
  const showsValue = message.startsWith("expected") && !message.includes("found") && !isSecret;
  const words = at
    .flatMap(kindsOf)
    .flatMap(({ type, options = [] }) => (type === "picklist" ? options.map(String) : []));
  const near = typeof input === "string" ? nearest(input, words) : undefined;
  return {
    message: showsValue
      ? `${message}, found ${typeof input === "object" ? kindOf(input) : shown(input)}`
      : message,
    ...(near !== undefined && { hint: `Did you mean '${near}'?` }),
  };
}

function unknownKeys(values: Values, mode: Mode, file: string): Problem[] {
  const known = Object.keys(schemas[mode].entries);
  return Object.keys(values)
    .filter((key) => !known.includes(key))
    .map((key) => ({ file, path: key, ...unknownKey(key, mode, known) }));
}

function unknownKey(key: string, mode: Mode, known: readonly string[]): Words {
  const others = modesWith(key);
  const near = nearest(key, known);
  return {
    message:
      others.length > 0
        ? `mode '${mode}' doesn't have this key; it belongs to ${others.join(", ")}`
        : "unknown key",
    hint:
      elsewhere(key) ??
      (near === undefined ? `Known here: ${known.join(", ")}` : `Did you mean '${near}'?`),
  };
}

/** The place of a name that no mode has as a key. */
function elsewhere(key: string): string | undefined {
  if (/^(?:port|host|hostname|address)$/.test(key)) return "Set host and port in 'url'.";
  if (keysOf(schemasAt(schemas.node, "limits")).includes(key))
    return `Set it in 'limits': { "${key}": … }`;
  if (isProcedureField(key)) return "It belongs to a procedure, in a segment file.";
  return undefined;
}

function isProcedureField(key: string): boolean {
  return ["access", ...procedureFields].includes(key);
}

interface MemberProblems {
  readonly refused: readonly Problem[];
  readonly unknown: readonly Problem[];
}

/**
 * Problems with the members of objects that valibot doesn't report, or not all of them: it stops at
 * the first unknown key, takes a list for an object, and drops names such as __proto__.
 */
function memberProblems(values: Values, schema: SchemaNode, file: string): MemberProblems {
  const refused: Problem[] = [];
  const unknown: Problem[] = [];
  const visit = (value: unknown, at: readonly SchemaNode[], path: string): void => {
    const kinds = at.flatMap(kindsOf);
    if (typeof value !== "object" || value === null || kinds.length === 0) return;
    if (Array.isArray(value)) {
      if (kinds.length === 1 && kinds.every(isObjectSchema))
        refused.push({ file, path, message: "expected an object, found an array" });
      return;
    }
    for (const name of prototypeNames)
      if (Object.hasOwn(value, name))
        refused.push({
          file,
          path: `${path}.${name}`,
          message: `"${name}" can't be a name here`,
          hint: "Choose another name.",
        });
    const known = keysOf(kinds);
    for (const [name, member] of Object.entries(value)) {
      if (prototypeNames.includes(name)) continue;
      const memberPath = `${path}.${name}`;
      if (known.length > 0 && !known.includes(name))
        unknown.push({ file, path: memberPath, ...unknownMember(path, name, known) });
      else
        visit(
          member,
          kinds.flatMap((kind) => schemasBelow(kind, name)),
          memberPath,
        );
    }
  };
  for (const [key, value] of Object.entries(values)) visit(value, schemasBelow(schema, key), key);
  return { refused, unknown };
}

const prototypeNames: readonly string[] = ["__proto__", "constructor", "prototype"];

function isObjectSchema({ type }: SchemaNode): boolean {
  return type === "strict_object" || type === "record";
}

function unknownMember(path: string, name: string, known: readonly string[]): Words {
  const isLimit = path === "limits";
  if (isLimit && modesWith(name).length > 0)
    return { message: "not a limit, but a key beside 'limits'" };
  const near = nearest(name, known);
  return {
    message: `unknown ${isLimit ? "limit" : "key"}; known: ${known.join(", ")}`,
    ...(near !== undefined && { hint: `Did you mean '${near}'?` }),
  };
}

function modesWith(key: string): readonly Mode[] {
  return modes.filter((mode) => Object.hasOwn(schemas[mode].entries, key));
}
