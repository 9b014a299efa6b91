// Patterns of routes: `POST /webhooks/:provider`. A pattern is a list of parts, each of which is a
// literal, a parameter or, at the end, a wildcard; so two patterns can be compared part by part.

import { parse } from "path-to-regexp";

import { paths, rpcPath } from "../base/protocol.ts";

/** The method and path of a route, as its segment entry names them. */
export interface RoutePattern {
  /** `*` stands for any. */
  readonly method: string;
  /** Begins with a slash. */
  readonly path: string;
}

export type PatternPart =
  | { readonly kind: "literal"; readonly text: string }
  | { readonly kind: "parameter" | "wildcard"; readonly name: string };

/** Methods that an entry may name. `GET` answers `HEAD`, and `OPTIONS` is answered by the service. */
export const routeMethods: readonly string[] = ["GET", "POST", "PUT", "PATCH", "DELETE", "*"];

/** The methods that `*` stands for in an `Allow` field. */
const anyMethod: readonly string[] = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"];

/** First parts of paths that are the runtime's own, now or in a later version. */
export const reservedPaths: readonly string[] = [
  ...[rpcPath, paths.components, paths.health, paths.nodes].map((path) => path.replaceAll("/", "")),
  "metrics",
];

/** A mistake in a pattern, and how to write it instead. */
export interface PatternProblem {
  readonly message: string;
  readonly hint: string;
}

const example = 'Write a method and a path: "POST /webhooks/:provider".';

/** Reads the `route` of a segment entry. */
export function readRoute(text: string): RoutePattern | PatternProblem {
  const [, method = "", path = ""] = /^(\S+) (\S+)$/.exec(text) ?? [];
  if (path === "")
    return {
      message: `expected a method, a blank and a path, found ${JSON.stringify(text)}`,
      hint: example,
    };
  if (!routeMethods.includes(method)) {
    return {
      message: `expected one of ${routeMethods.join(", ")} as the method, found ${JSON.stringify(method)}`,
      hint: methodHint(method.toUpperCase(), path),
    };
  }
  const problem = partsOf(path);
  return "message" in problem ? problem : { method, path };
}

/** The parts of a pattern's path that has been checked. */
export function patternParts(path: string): readonly PatternPart[] {
  const parts = partsOf(path);
  if ("message" in parts) throw new TypeError(`Route ${JSON.stringify(path)}: ${parts.message}`);
  return parts;
}

function methodHint(upper: string, path: string): string {
  if (routeMethods.includes(upper))
    return `Write "${upper} ${path}": methods have capital letters.`;
  if (upper === "HEAD") return "A route for GET answers HEAD, too.";
  return upper === "OPTIONS"
    ? "Seamline answers OPTIONS itself, by CorsMiddleware if there is one."
    : 'Write "*" for any method.';
}

function partsOf(path: string): readonly PatternPart[] | PatternProblem {
  const wrong = (what: string, hint: string): PatternProblem => ({
    message: `the path ${JSON.stringify(path)} ${what}`,
    hint,
  });
  if (!path.startsWith("/")) return wrong("doesn't start with a slash", example);
  const parts: PatternPart[] = [];
  const names = new Set<string>();
  const texts = path.slice(1).split("/");
  for (const [at, text] of texts.entries()) {
    const isLast = at === texts.length - 1;
    const part = partOf(text);
    if (part === undefined)
      return wrong(
        `has the part ${JSON.stringify(text)}, which is neither text, a parameter nor a wildcard`,
        "A part is text, :name or, at the end, *name; no groups, and nothing beside a name.",
      );
    if (part.kind === "literal") {
      if (text === "" && !isLast)
        return wrong("has an empty part", "Write one slash between parts.");
      if (/^(?:\.|%2e){1,2}$/i.test(text) || /[\\#%?"]/.test(part.text.replace(/%[\dA-F]{2}/g, "")))
        return wrong(
          `has the part ${JSON.stringify(text)}, which no request's path has`,
          "Leave out dots alone, backslashes, quotes, # and ?; write escapes as %C3%BC.",
        );
    } else if (names.has(part.name)) {
      return wrong(`has two parameters "${part.name}"`, "Give each its own name.");
    } else names.add(part.name);
    if (part.kind === "wildcard" && !isLast)
      return wrong(`has the wildcard "*${part.name}" before its end`, "A wildcard takes the rest.");
    parts.push(part);
  }
  return firstPartProblem(parts[0], wrong) ?? parts;
}

// Half of a surrogate pair, which no address can hold.
const lone = /\p{Surrogate}/u;

function partOf(text: string): PatternPart | undefined {
  if (lone.test(text)) return undefined;
  let tokens: ReturnType<typeof parse>["tokens"];
  try {
    ({ tokens } = parse(text));
  } catch {
    return undefined;
  }
  const [token, ...more] = tokens;
  if (token === undefined) return { kind: "literal", text: "" };
  if (more.length > 0 || token.type === "group") return undefined;
  if (token.type === "text") return { kind: "literal", text: encoded(token.value) };
  if (["__proto__", "constructor", "prototype"].includes(token.name)) return undefined;
  return { kind: token.type === "param" ? "parameter" : "wildcard", name: token.name };
}

/** Browsers escape everything but ASCII. */
function encoded(text: string): string {
  return text.replace(/[^\x21-\x7e]+/g, encodeURIComponent);
}

function firstPartProblem(
  first: PatternPart | undefined,
  wrong: (what: string, hint: string) => PatternProblem,
): PatternProblem | undefined {
  if (first?.kind !== "literal" || first.text === "")
    return wrong(
      "doesn't begin with a literal part",
      'Begin with a word of your own: "/webhooks/:provider".',
    );
  if (!mayBeginRoute(first.text))
    return wrong(
      `begins with "${first.text}", which is Seamline's or the development server's`,
      `Begin with another word than ${reservedPaths.join(", ")}, and not with @.`,
    );
  return undefined;
}

/** Whether a route's path may begin with this part, or it is Seamline's or the development server's. */
export function mayBeginRoute(first: string): boolean {
  return first !== "" && !reservedPaths.includes(first) && !first.startsWith("@");
}

/**
 * The same for two paths with the same literals and wildcards at the same places: they match the
 * same requests. The names of parameters don't count.
 */
export function patternShape(parts: readonly PatternPart[]): string {
  return parts
    .map((part) => (part.kind === "literal" ? part.text : part.kind === "parameter" ? ":" : "*"))
    .join("/");
}

/** Whether a request could be for both methods. */
export function shareMethod(left: string, right: string): boolean {
  return left === right || left === "*" || right === "*";
}

/** Whether two routes could answer the same requests, with no rule to choose between them. */
export function routesClash(left: RoutePattern, right: RoutePattern): boolean {
  return (
    shareMethod(left.method, right.method) &&
    patternShape(patternParts(left.path)) === patternShape(patternParts(right.path))
  );
}

/** The methods for an `Allow` field, `OPTIONS` not included. */
export function allowedMethods(methods: Iterable<string>): readonly string[] {
  const allowed = new Set<string>();
  for (const method of methods)
    for (const one of method === "*" ? anyMethod : method === "GET" ? ["GET", "HEAD"] : [method])
      allowed.add(one);
  return [...allowed];
}
