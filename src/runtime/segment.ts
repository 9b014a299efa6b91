// Parses segment files into entries, and reports all mistakes of a file at once.

import { InvalidVersionNumber } from "../base/errors.ts";
import { type JsonText, type SourcePosition, readJson } from "../base/json.ts";
import { accesses, isCallable } from "../base/access.ts";
import {
  type Access,
  type ExtraMembers,
  extraMembers,
  guardParts,
  segmentFileEnding,
} from "../base/manifest.ts";
import { type Problem, nearest } from "../base/problem.ts";
import { longestTimeMs } from "../base/protocol.ts";
import { defaultVersion, parseVersion } from "../base/version.ts";
import type { RoutePattern } from "../http/route-pattern.ts";
import { procedureFields, readRouteFields, routeFields } from "./segment-route.ts";

/** An export that a segment file names, with a valid entry or not. */
export interface NamedExport {
  /** As written: `./shop/quote.js`. */
  readonly module: string;
  readonly export: string;
  /** JSON path and position of the entry, for problems found later. */
  readonly path: string;
  readonly line: number;
  readonly column: number;
}

/** An export with its entry in one segment file. */
export interface SegmentFileEntry extends NamedExport {
  readonly access: Access;
  /** Three numbers. */
  readonly version: string;
  readonly as?: string;
  readonly safe?: true;
  readonly idempotent?: true;
  /** Of a stream: callers ask for the rest after a cut. Such an entry is idempotent, too. */
  readonly resume?: true;
  /** A call of it may take this long. */
  readonly timeoutMs?: number;
  /** Whether arguments of callers from outside are checked by the types of its parameters. */
  readonly validate?: boolean;
  /** The treatment of undeclared members of arguments. */
  readonly extra?: ExtraMembers;
  /** The guard that callers from outside must pass first: `./auth.ts#signedIn`, of the entry or of its file. */
  readonly guard?: string;
  /** The entry says that it has no guard. */
  readonly unguarded?: true;
  /** The function answers requests for a path, and can't be called. */
  readonly route?: RoutePattern;
  readonly crossSite?: true;
  readonly bodyBytes?: number;
}

export interface SegmentFile {
  /** The file's name without `.segment.json`. */
  readonly name: string;
  readonly file: string;
  readonly entries: readonly SegmentFileEntry[];
  /** The guards that the file names, where it names them. */
  readonly guards: readonly NamedExport[];
  /** Exports whose entries can't be read; `problems` says why. */
  readonly unread: readonly NamedExport[];
  readonly problems: readonly Problem[];
}

// No slash: an FQN is the module's directory and a name.
export const procedureName: RegExp = /^[^\s/?#%@]+$/;
const fields: readonly string[] = ["access", ...procedureFields, "guard", ...routeFields];
/** The name of an export in the name of a guard. */
const guardExport: RegExp = /^[^\s\\#]+$/;
/** The key of a file for the guard of all its public and protected entries. */
const fileGuard = "$guard";
const fileKeys = ["$schema", fileGuard];

/** Parses a segment file. `problems` has its mistakes, `entries` everything that is valid. */
export function parseSegment(text: string, file: string): SegmentFile {
  const entries: SegmentFileEntry[] = [];
  const guards: NamedExport[] = [];
  const unread: NamedExport[] = [];
  const json = readJson(text, file);
  if ("broken" in json)
    return { name: segmentName(file), file, entries, guards, unread, problems: [json.broken] };
  const problems: Problem[] = [...json.problems];
  const segment = { name: segmentName(file), file, entries, guards, unread, problems };
  const refuse: Refuse = (path, message, hint) => {
    problems.push({
      file,
      ...placeOf(json, path),
      path: textOf(path),
      message,
      ...(hint === undefined ? {} : { hint }),
    });
  };
  if (!isObject(json.value)) {
    const hint = 'Write { "./shop/quote": { "quote": { "access": "public" } } }.';
    refuse([], `expected an object of module paths, found ${kindOf(json.value)}`, hint);
    return segment;
  }
  const guardAt = (value: unknown, path: Path): string | undefined => {
    const named = readGuard(value, path, refuse);
    if (named === undefined) return undefined;
    guards.push({ ...named, path: textOf(path), ...placeOf(json, path) });
    return value as string;
  };
  const guardOfFile = json.value[fileGuard];
  const fallback = guardOfFile === undefined ? undefined : guardAt(guardOfFile, [fileGuard]);
  for (const [module, exports] of Object.entries(json.value)) {
    if (module === fileGuard) continue;
    // Editors look for the file's schema here; every other key is a module.
    if (module === "$schema") {
      if (typeof exports !== "string")
        refuse([module], `expected the path of a JSON Schema, found ${kindOf(exports)}`);
      continue;
    }
    const pathProblem = modulePathProblem(module);
    if (pathProblem !== undefined) {
      const near = module.startsWith("$") ? nearest(module, fileKeys) : undefined;
      refuse(
        [module],
        `expected a module path, ${pathProblem}`,
        near === undefined
          ? `Write it relative to the source folder: "${repaired(module)}".`
          : `Did you mean "${near}"?`,
      );
    }
    if (!isObject(exports)) {
      refuse(
        [module],
        `expected an object of exported names, found ${kindOf(exports)}`,
        'Write { "quote": { "access": "public" } }.',
      );
      continue;
    }
    for (const [name, entry] of Object.entries(exports)) {
      const path = [module, name];
      const read = readEntry(entry, path, refuse, (value) => {
        if (value === false) return { unguarded: true };
        const guard = value === undefined ? undefined : guardAt(value, [...path, "guard"]);
        return guard === undefined ? {} : { guard };
      });
      if (pathProblem !== undefined) continue;
      const named = { module, export: name, path: textOf(path), ...placeOf(json, path) };
      if (read === undefined) unread.push(named);
      else entries.push({ ...named, ...withGuard(read, fallback) });
    }
  }
  return segment;
}

type Path = readonly string[];
type Refuse = (path: Path, message: string, hint?: string) => void;

type Read = Omit<SegmentFileEntry, keyof NamedExport>;

/** The entry with its file's guard, if it has none of its own and callers from outside reach it. */
function withGuard(read: Read, guard: string | undefined): Read {
  if (guard === undefined || read.guard !== undefined || read.unguarded) return read;
  return isCallable(read.access) ? { ...read, guard } : read;
}

/** Reads what names a guard: a module as in the keys of a segment file, `#`, and an export of it. */
function readGuard(
  value: unknown,
  path: Path,
  refuse: Refuse,
): Pick<NamedExport, "module" | "export"> | undefined {
  const wrong = (message: string, hint: string): undefined => {
    refuse(path, message, hint);
  };
  const expected = `expected a guard, ${path.length === 1 ? "" : "or false, "}found ${kindOf(value)}`;
  const hint = 'Write "./auth.ts#signedIn": a module in the source folder, and an export of it.';
  if (typeof value !== "string") return wrong(expected, hint);
  const { module, export: name } = guardParts(value);
  const problem = modulePathProblem(module);
  if (problem !== undefined)
    return wrong(
      `expected a guard as a module path and an export, ${problem}`,
      `Write it relative to the source folder: "${repaired(module)}#${name}".`,
    );
  return guardExport.test(name) ? { module, export: name } : wrong(expected, hint);
}

function readEntry(
  entry: unknown,
  path: Path,
  refuse: Refuse,
  guarded: (value: unknown) => Pick<Read, "guard" | "unguarded">,
): Read | undefined {
  if (!isObject(entry)) {
    refuse(
      path,
      `expected an object with "access", found ${kindOf(entry)}`,
      'Write { "access": "public" } or { "access": "private" }.',
    );
    return undefined;
  }
  for (const field of Object.keys(entry))
    if (!fields.includes(field)) {
      const near = nearest(field, fields);
      refuse(
        [...path, field],
        `unknown field "${field}"; expected one of ${fields.join(", ")}`,
        near && `Did you mean "${near}"?`,
      );
    }
  const access = readAccess(entry["access"], path, refuse);
  const version = readVersion(entry["version"], [...path, "version"], refuse);
  const as = entry["as"];
  if (as !== undefined && (typeof as !== "string" || !procedureName.test(as)))
    refuse(
      [...path, "as"],
      `expected a procedure name, without slashes and blanks, found ${kindOf(as)}`,
      `Write "as": "${nameIn(as)}". The folder of its module comes before it by itself.`,
    );
  for (const flag of ["safe", "idempotent", "resume", "validate"] as const)
    if (entry[flag] !== undefined && typeof entry[flag] !== "boolean")
      refuse([...path, flag], `expected true or false, found ${kindOf(entry[flag])}`);
  const extra = entry["extra"];
  if (extra !== undefined && !isExtra(extra))
    refuse(
      [...path, "extra"],
      `expected ${extraMembers.map((word) => `"${word}"`).join(", ")}, found ${kindOf(extra)}`,
      "Leave it out, and members that no type names don't arrive.",
    );
  const timeoutMs = entry["timeoutMs"];
  if (timeoutMs !== undefined && !isTime(timeoutMs))
    refuse(
      [...path, "timeoutMs"],
      `expected a whole number of milliseconds from 1 to ${longestTimeMs}, found ${kindOf(timeoutMs)}`,
      "Leave it out for the service's limits.callTimeoutMs.",
    );
  const guard = guarded(entry["guard"]);
  const route = readRouteFields(entry, (field, message, hint) =>
    refuse([...path, field], message, hint),
  );
  if (access === undefined || version === undefined || route === undefined) return undefined;
  return {
    access,
    ...route,
    version,
    ...(typeof as === "string" && { as }),
    ...(entry["safe"] === true && { safe: true }),
    ...((entry["idempotent"] === true || entry["resume"] === true) && { idempotent: true }),
    ...(entry["resume"] === true && { resume: true }),
    ...(typeof timeoutMs === "number" && { timeoutMs }),
    ...(typeof entry["validate"] === "boolean" && { validate: entry["validate"] }),
    ...(isExtra(extra) && { extra }),
    ...guard,
  };
}

function readAccess(value: unknown, path: Path, refuse: Refuse): Access | undefined {
  if (accesses.includes(value as Access)) return value as Access;
  const expected = `expected ${accesses.map((access) => `"${access}"`).join(", ")}`;
  if (value === undefined) {
    refuse(
      [...path, "access"],
      `access is missing: ${expected}`,
      '"public" lets anyone call it, "private" only code of its own node.',
    );
    return undefined;
  }
  const near = typeof value === "string" ? nearest(value, accesses) : undefined;
  refuse(
    [...path, "access"],
    `${expected}, found ${kindOf(value)}`,
    near && `Did you mean "${near}"?`,
  );
  return undefined;
}

function readVersion(value: unknown, path: Path, refuse: Refuse): string | undefined {
  if (value === undefined) return defaultVersion.toString();
  try {
    // Empty text means the default version only in a query; here it is a mistake.
    if (typeof value !== "string")
      throw new InvalidVersionNumber(`Invalid version number '${kindOf(value)}': expected text`);
    if (value === "") throw new InvalidVersionNumber("Invalid version number ''");
    return parseVersion(value).toString();
  } catch (error) {
    if (!(error instanceof InvalidVersionNumber)) throw error;
    refuse(
      path,
      error.message,
      `${isDigits(value) ? `Write "version": "${value}". ` : ""}A version is text of one to three numbers: "1", "1.2" or "1.2.3".`,
    );
    return undefined;
  }
}

function isDigits(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

/** The last part of a procedure's whole name, which may have been written in place of it. */
function nameIn(as: unknown): string {
  const last = typeof as === "string" ? as.slice(as.lastIndexOf("/") + 1) : "";
  return procedureName.test(last) ? last : "quote";
}

function modulePathProblem(module: string): string | undefined {
  if (!module.startsWith("./"))
    return `found ${JSON.stringify(module)}, which does not start with "./"`;
  if (module.includes("\\")) return `found ${JSON.stringify(module)}, which has backslashes`;
  if (module.split("/").includes(".."))
    return `found ${JSON.stringify(module)}, which leads out of the source folder`;
  return undefined;
}

function repaired(module: string): string {
  const parts = module
    .split(/[\\/]/)
    .filter((part) => part !== ".." && part !== "." && part !== "");
  return `./${parts.join("/")}`;
}

function segmentName(file: string): string {
  const base = file.slice(Math.max(file.lastIndexOf("/"), file.lastIndexOf("\\")) + 1);
  return base.endsWith(segmentFileEnding) ? base.slice(0, -segmentFileEnding.length) : base;
}

/** The position of a key, or of the nearest parent of a missing key. */
function placeOf(json: JsonText, path: Path): SourcePosition {
  for (let length = path.length; length > 0; length--) {
    const place = json.placeOf(path.slice(0, length));
    if (place !== undefined) return place;
  }
  return { line: 1, column: 1 };
}

/** `$["./shop/quote"].quote.access`. */
function textOf(path: Path): string {
  return `$${path.map((name) => (/^[A-Za-z_$][\w$]*$/.test(name) ? `.${name}` : `[${JSON.stringify(name)}]`)).join("")}`;
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isExtra(value: unknown): value is ExtraMembers {
  return (extraMembers as readonly unknown[]).includes(value);
}

function isTime(value: unknown): boolean {
  return Number.isSafeInteger(value) && (value as number) > 0 && (value as number) <= longestTimeMs;
}

function kindOf(value: unknown): string {
  if (typeof value === "string") return JSON.stringify(value);
  if (value === null || typeof value === "number" || typeof value === "boolean")
    return String(value);
  return Array.isArray(value) ? "an array" : "an object";
}
