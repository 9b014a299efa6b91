// Finds the route of a request. Matches the path as sent, without normalizing it, so that no two services on the
// way can understand a path differently.

import {
  allowedMethods,
  mayBeginRoute,
  type PatternPart,
  patternParts,
  type RoutePattern,
} from "./route-pattern.ts";
import type { PathParameters } from "../base/context.ts";
import { pathOf } from "./router.ts";

export type RouteMatch<T> =
  /** No route has this path. */
  | { readonly kind: "none" }
  /** The path is below one of the routes, but malformed: not found. */
  | { readonly kind: "malformed" }
  /** Routes have this path, but none has the method. */
  | { readonly kind: "other-method"; readonly allowed: readonly string[] }
  | {
      readonly kind: "found";
      readonly route: T;
      readonly params: PathParameters;
      readonly allowed: readonly string[];
    };

export interface RouteTable<T> {
  readonly all: readonly T[];
  match(method: string, target: string): RouteMatch<T>;
}

const answeredMethods = allowedMethods(["*"]);

const none = { kind: "none" } as const;
const malformed = { kind: "malformed" } as const;

/** The parameters of a path without any. */
export const noParameters: PathParameters = Object.freeze(Object.create(null) as PathParameters);

interface Row<T> {
  readonly route: T;
  readonly method: string;
  readonly parts: readonly PatternPart[];
}

/** The most specific route matches: part by part, a literal before a parameter before a wildcard. */
export function createRouteTable<T extends RoutePattern>(routes: readonly T[]): RouteTable<T> {
  /** Rows by their first part, which is always a literal. */
  const byFirst = new Map<string, Row<T>[]>();
  for (const route of routes) {
    const parts = patternParts(route.path);
    const [first] = parts;
    const key = first?.kind === "literal" ? first.text : "";
    const rows = byFirst.get(key) ?? [];
    byFirst.set(key, rows);
    rows.push({ route, method: route.method, parts });
  }
  for (const rows of byFirst.values()) rows.sort(bySpecificity);

  return {
    all: routes,
    match(method, target) {
      const path = pathOf(target);
      const slash = path.indexOf("/", 1);
      const rows = byFirst.get(slash < 0 ? path.slice(1) : path.slice(1, slash));
      if (rows === undefined) return none;
      const texts = path.slice(1).split("/");
      const decoded = decodeParts(texts);
      if (decoded === undefined) return malformed;
      const matching = rows.filter((row) => isMatch(row.parts, texts));
      if (matching.length === 0) return none;
      const allowed = allowedMethods(matching.map((row) => row.method));
      const row = matching.find((entry) => answers(entry.method, method));
      if (row === undefined || !allowed.includes(method)) return { kind: "other-method", allowed };
      return { kind: "found", route: row.route, params: parametersOf(row, decoded), allowed };
    },
  };
}

/** Whether some application could have a route for a request. */
export function mayBeRoute(method: string, target: string): boolean {
  if (method !== "OPTIONS" && !answeredMethods.includes(method)) return false;
  const texts = pathOf(target).slice(1).split("/");
  return mayBeginRoute(texts[0] ?? "") && decodeParts(texts) !== undefined;
}

function answers(own: string, method: string): boolean {
  return own === method || own === "*" || (own === "GET" && method === "HEAD");
}

function bySpecificity<T>(left: Row<T>, right: Row<T>): number {
  for (const [at, part] of left.parts.entries()) {
    const other = right.parts[at];
    if (other === undefined) return 1;
    const difference = rank(part) - rank(other);
    if (difference !== 0) return difference;
  }
  return left.parts.length - right.parts.length;
}

function rank({ kind }: PatternPart): number {
  return kind === "literal" ? 0 : kind === "parameter" ? 1 : 2;
}

function isMatch(parts: readonly PatternPart[], texts: readonly string[]): boolean {
  for (const [at, part] of parts.entries()) {
    const text = texts[at];
    if (text === undefined) return false;
    if (part.kind === "literal" ? part.text !== text : text === "") return false;
    if (part.kind === "wildcard") return true;
  }
  return texts.length === parts.length;
}

/**
 * Decodes each part once. `undefined` for a path that a service on the way, or the handler, could understand as
 * another one.
 */
function decodeParts(texts: readonly string[]): readonly string[] | undefined {
  const decoded: string[] = [];
  for (const [at, text] of texts.entries()) {
    if ((text === "" && at < texts.length - 1) || /[\\#]/.test(text)) return undefined;
    let part: string;
    try {
      part = text.includes("%") ? decodeURIComponent(text) : text;
    } catch {
      return undefined;
    }
    // A handler may join the parameter to a folder, or resolve it: an escaped slash may stand between
    // two names, but begin no absolute path, and an escaped backslash is a separator on Windows.
    if (isDots(part) || part.includes("\\")) return undefined;
    if (
      part !== text &&
      part.includes("/") &&
      part.split("/").some((name) => name === "" || isDots(name))
    )
      return undefined;
    decoded.push(part);
  }
  return decoded;
}

function isDots(name: string): boolean {
  return name === "." || name === "..";
}

function parametersOf<T>({ parts }: Row<T>, decoded: readonly string[]): PathParameters {
  if (parts.every((part) => part.kind === "literal")) return noParameters;
  const params = Object.create(null) as Record<string, string>;
  for (const [at, part] of parts.entries())
    if (part.kind === "parameter") params[part.name] = decoded[at] ?? "";
    else if (part.kind === "wildcard") params[part.name] = decoded.slice(at).join("/");
  return Object.freeze(params);
}
