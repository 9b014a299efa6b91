// The key `headers`: headers that the application adds to its files and pages.

import { checkedHeader } from "../../src/http/header-field.ts";
import { isHopByHop } from "../../src/http/forwarded.ts";
import { isServiceHeader } from "../../src/base/protocol.ts";

/** Glob of URL paths → headers. */
export type HeaderRules = Readonly<Record<string, Readonly<Record<string, string>>>>;

const own: ReadonlySet<string> = new Set([
  "accept-ranges",
  "cache-control",
  "content-encoding",
  "content-length",
  "content-range",
  "content-type",
  "date",
  "etag",
  "last-modified",
  "vary",
  "x-content-type-options",
]);

/** The problem of a rule's glob, or `undefined`. */
export function headerGlobProblem(glob: string): string | undefined {
  if (glob.startsWith("/") && !/[\s?#]/.test(glob)) return undefined;
  return 'expected a glob of URL paths, which begins with a slash: "/**" or "/admin/*"';
}

/** The problem of a rule's header, or `undefined`. */
export function headerProblem(name: string, value: string): string | undefined {
  let key: string;
  try {
    key = checkedHeader(name, value);
  } catch (error) {
    return (error as Error).message;
  }
  if (value.trim() === "") return "expected a value that isn't empty";
  if (key === "set-cookie") return "files set no cookies: procedures and routes do";
  if (key === "location") return "files don't redirect: a route can";
  if (isServiceHeader(key) || own.has(key)) return `Seamline sets '${key}' for each file itself`;
  return isHopByHop(key) || key.startsWith("proxy-")
    ? `'${key}' belongs to the connection`
    : undefined;
}

/** Names of headers that pages may add to streams, for the JSON Schema: no proxy in front sees these. */
export const streamHeaderPattern: RegExp =
  /^(?!(?:x-svc-.*|host|origin|referer|cookie|forwarded|x-forwarded-.*|x-real-ip|via|sec-.*|accept|accept-encoding|expect|range|if-.*|content-.*|user-agent|connection|keep-alive|proxy-.*|te|trailer|transfer-encoding|upgrade)$)[-!#$%&'*+.^_`|~0-9a-z]+$/;

/** The problem of such a name, or `undefined`. */
export function streamHeaderProblem(name: string): string | undefined {
  if (streamHeaderPattern.test(name)) return undefined;
  let key: string;
  try {
    key = checkedHeader(name, "");
  } catch (error) {
    return (error as Error).message;
  }
  if (isServiceHeader(key)) return `'${key}' is Seamline's own: a page can't set it`;
  return key !== name && streamHeaderPattern.test(key)
    ? `expected a name in lower case: '${key}'`
    : `'${key}' comes from the browser, the connection or the proxy in front: a page can't set it`;
}

/** Warnings about policies that stop the page's own runtime, each with its place in the configuration. */
export function headerWarnings(rules: HeaderRules): readonly string[] {
  return Object.entries(rules).flatMap(([glob, fields]) =>
    Object.entries(fields).flatMap(([name, value]) =>
      name.toLowerCase() === "content-security-policy"
        ? policyWarnings(value).map((text) => `'headers': "${glob}": ${name}: ${text}`)
        : [],
    ),
  );
}

function policyWarnings(policy: string): readonly string[] {
  const directives = new Map<string, readonly string[]>();
  // A comma separates policies, all of which apply.
  for (const part of policy.split(/[;,]/)) {
    const [name = "", ...sources] = part.trim().split(/\s+/);
    if (name !== "") directives.set(name.toLowerCase(), sources);
  }
  const sourcesOf = (
    ...names: readonly string[]
  ): readonly [string, readonly string[]] | undefined => {
    const name = [...names, "default-src"].find((each) => directives.has(each));
    return name === undefined ? undefined : [name, directives.get(name) ?? []];
  };
  const warnings: string[] = [];
  const script = sourcesOf("script-src-elem", "script-src");
  if (script !== undefined && !(allowsOwn(script[1]) && !script[1].includes("'strict-dynamic'")))
    warnings.push(
      `${script[0]} doesn't allow 'self', so pages can't load their scripts and Seamline`,
    );
  const connect = sourcesOf("connect-src");
  if (connect !== undefined && !allowsOwn(connect[1]))
    warnings.push(`${connect[0]} doesn't allow 'self', so pages can't call procedures`);
  const sandbox = directives.get("sandbox");
  for (const flag of ["allow-scripts", "allow-same-origin"])
    if (sandbox?.includes(flag) === false)
      warnings.push(`sandbox lacks ${flag}, so pages can't call procedures`);
  return warnings;
}

/** A host may be the application's own. */
function allowsOwn(sources: readonly string[]): boolean {
  return sources.some(
    (source) => /^(?:'self'|\*|https?:)$/i.test(source) || !/^'|^[a-z][a-z\d+.-]*:$/i.test(source),
  );
}
