// Finds everything that is wrong in a configuration, each problem with its key and what to do.

import * as v from "valibot";
import { nearest, type Problem } from "../../src/base/problem.ts";
import { procedureFields } from "../../src/runtime/segment-route.ts";
import { schemeProblem } from "./config-address.ts";
import { directoryProblems } from "./config-directory.ts";
import { ownAddressProblems } from "./config-own-address.ts";
import {
  directoryNames,
  directoryTlsNames,
  limitNames,
  metricsNames,
  schemas,
  tlsNames,
  tracesNames,
} from "./config-schema.ts";
import type { Config, Mode } from "./config-types.ts";

/** Keys and limits that had another name before the first release. */
export const renamedKeys: ReadonlyMap<string, string> = new Map([
  ["clients", "browserSegments"],
  ["clientModules", "browserModules"],
  ["monitor", "healthIntervalMs"],
  ["layout", "nodes"],
]);
export const renamedLimits: ReadonlyMap<string, string> = new Map([
  ["body", "bodyBytes"],
  ["header", "headerBytes"],
  ["headerTime", "headerTimeoutMs"],
  ["requestTime", "requestTimeoutMs"],
  ["time", "callTimeoutMs"],
  ["connections", "maxConnections"],
  ["depth", "maxDepth"],
  ["values", "maxValues"],
  ["objects", "maxObjects"],
  ["digits", "maxDigits"],
  ["query", "maxQueryParameters"],
]);

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
  // valibot accepts a list as an object.
  for (const path of ["healthChecks", "headers", "limits", "tls", "nodes", "directory"])
    if (Array.isArray(values[path]))
      problems.push({ file, path, message: "expected an object, found an array" });
  problems.push(...prototypeNames(values, file));
  const refused = new Set(problems.map(({ path }) => path));
  problems.push(...unknownLimits(values, file).filter(({ path }) => !refused.has(path)));
  const unknown = unknownMembers(values, file);
  problems.push(...unknown);
  const result = v.safeParse(schemas[mode], values);
  for (const issue of result.issues ?? []) {
    // A name that is empty would leave a dot.
    const path = v.getDotPath(issue)?.replace(/\.$/, "");
    // An unset variable, for one, has been reported already.
    if (path !== undefined && problems.some((problem) => isWithin(path, problem.path))) continue;
    // Of an object that may be one of several, valibot only says that it is none of them.
    if (path !== undefined && unknown.some((problem) => isWithin(problem.path ?? "", path)))
      continue;
    problems.push({ file, ...(path !== undefined && { path }), ...wordsOf(issue, path ?? "") });
  }
  const ways = ["gateway", "node", "directory"].filter((key) => key in values);
  if (mode === "proxy" && ways.length !== 1)
    problems.push({
      file,
      path: "gateway",
      message: "a proxy needs one of 'gateway', 'node' and 'directory', and no more",
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

function isWithin(path: string, parent: string | undefined): boolean {
  return path === parent || path.startsWith(`${parent}.`);
}

export function isMode(value: unknown): value is Mode {
  return typeof value === "string" && Object.hasOwn(schemas, value);
}

/** The problem of a `mode` that is missing or unknown. */
export function modeProblem(mode: unknown, file: string): Problem {
  const modes = Object.keys(schemas);
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

// valibot reports a missing key for the object around it, without the message of the key itself.
const missingHints: Readonly<Record<string, string>> = {
  segments: "Give a list of segment names",
  "tls.cert": "Give the path of the certificate, a PEM file",
  "tls.key": "Give the path of the certificate's private key, a PEM file",
  "directory.nats": 'Give the addresses of NATS servers, such as ["nats://127.0.0.1:4222"]',
};

/** The keys of objects that have nothing else. */
const namesOf: Readonly<Record<string, readonly string[]>> = {
  tls: tlsNames,
  directory: directoryNames,
  "directory.tls": directoryTlsNames,
};

function wordsOf(issue: v.BaseIssue<unknown>, path: string): Words {
  if (issue.received === "undefined")
    return {
      message: "it is missing",
      hint: missingHints[path] ?? "Give an address such as http://127.0.0.1:3000",
    };
  if (issue.expected === "never") {
    const [, object = "", name = ""] = /^(.*)\.(.*)$/s.exec(path) ?? [];
    return unknownName("key", name, namesOf[object] ?? []);
  }
  const { input, message } = issue;
  // Messages end up in logs, so secrets must not be in them.
  const showsValue =
    message.startsWith("expected") &&
    !message.includes("found") &&
    !/trustKey|passphrase|^directory\.nats/.test(path);
  const near =
    issue.type === "picklist" && typeof input === "string"
      ? nearest(input, path === "errors" ? ["shown", "masked"] : ["info", "warn", "error", "none"])
      : undefined;
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
  const newName = renamedKeys.get(key);
  if (newName !== undefined) return { message: `renamed to '${newName}'` };
  const others = Object.entries(schemas).filter(([, { entries }]) => Object.hasOwn(entries, key));
  const near = nearest(key, known);
  return {
    message:
      others.length > 0
        ? `mode '${mode}' doesn't have this key; it belongs to ${others.map(([name]) => name).join(", ")}`
        : "unknown key",
    hint:
      elsewhere(key) ??
      (near === undefined ? `Known here: ${known.join(", ")}` : `Did you mean '${near}'?`),
  };
}

/** Where something belongs that no mode has as a key. */
function elsewhere(key: string): string | undefined {
  if (/^(?:port|host|hostname|address)$/.test(key)) return "Set host and port in 'url'.";
  if (limitNames.includes(key)) return `Set it in 'limits': { "${key}": … }`;
  if (isProcedureField(key)) return "It belongs to a procedure, in a segment file.";
  return undefined;
}

function isProcedureField(key: string): boolean {
  return ["access", ...procedureFields].includes(key);
}

function unknownName(kind: "key" | "limit", name: string, known: readonly string[]): Words {
  const near = nearest(name, known);
  return {
    message: `unknown ${kind}; known: ${known.join(", ")}`,
    ...(near !== undefined && { hint: `Did you mean '${near}'?` }),
  };
}

/** The members of objects that are one of several kinds. */
const membersOf: Readonly<Record<string, readonly string[]>> = {
  metrics: metricsNames,
  traces: tracesNames,
};

function unknownMembers(values: Values, file: string): Problem[] {
  return Object.entries(membersOf).flatMap(([key, known]) => {
    const value = values[key];
    if (typeof value !== "object" || value === null || Array.isArray(value)) return [];
    return Object.keys(value)
      .filter((name) => !known.includes(name))
      .map((name) => ({ file, path: `${key}.${name}`, ...unknownName("key", name, known) }));
  });
}

// All of them: valibot would stop at the first.
function unknownLimits({ limits }: Values, file: string): Problem[] {
  if (typeof limits !== "object" || limits === null || Array.isArray(limits)) return [];
  return Object.keys(limits)
    .filter((name) => !limitNames.includes(name))
    .map((name) => {
      const newName = renamedLimits.get(name);
      const words =
        newName !== undefined
          ? { message: `renamed to '${newName}'` }
          : Object.values(schemas).some(({ entries }) => Object.hasOwn(entries, name))
            ? { message: "not a limit, but a key beside 'limits'" }
            : unknownName("limit", name, limitNames);
      return { file, path: `limits.${name}`, ...words };
    });
}

// valibot drops these without a word.
function prototypeNames(values: Values, file: string): Problem[] {
  return Object.entries(values).flatMap(([key, value]) => {
    if (typeof value !== "object" || value === null || Array.isArray(value)) return [];
    return ["__proto__", "constructor", "prototype"]
      .filter((name) => Object.hasOwn(value, name))
      .map((name) => ({
        file,
        path: `${key}.${name}`,
        message: `"${name}" can't be a name here`,
        hint: "Choose another name.",
      }));
  });
}
