import { BadRequest, InvalidVersionNumber } from "./errors.ts";
import { versionParameter } from "./protocol.ts";

/** A procedure's version: one to three numbers, the missing ones 0. */
export interface Version {
  readonly major: number;
  readonly minor: number;
  readonly patch: number;
  /** Always three numbers: `1` reads `1.0.0`. */
  toString(): string;
}

// Nine digits keep every part an exact integer, and a hostile version string short.
const pattern = /^(\d{1,9})(?:\.(\d{1,9}))?(?:\.(\d{1,9}))?$/;

/** Reads a version. Empty text is the default version. Throws {@link InvalidVersionNumber}. */
export function parseVersion(text: string): Version {
  if (text === "") return defaultVersion;
  const found = pattern.exec(text);
  if (found === null) throw new InvalidVersionNumber(`Invalid version number '${text}'`);
  return versionOf(Number(found[1]), Number(found[2] ?? 0), Number(found[3] ?? 0));
}

/** Orders versions as {@link Version.toString} writes them, the lowest first. */
export function byVersion(left: string, right: string): number {
  const [one, other] = [parseVersion(left), parseVersion(right)];
  return one.major - other.major || one.minor - other.minor || one.patch - other.patch;
}

const inName = /@[\d.]+$/;

/** Whether a name, or a part of one, ends like a version: `quote@1.2`. */
export function endsInVersion(name: string): boolean {
  return inName.test(name);
}

/** The name that a call's path has, decoded, without the version that may follow it: `shop/quote@1.2`. */
export function withoutVersion(name: string): string {
  return name.includes("@") ? name.replace(inName, "") : name;
}

/** The version that follows a name, as {@link readVersion} takes it. */
export function versionIn(name: string): string | undefined {
  return name.includes("@") ? inName.exec(name)?.[0].slice(1) : undefined;
}

/**
 * By query, if the version is all that the query has: nearly all calls are for a few. Limited, since callers can
 * make more up.
 */
const known = new Map<string, Version>();
const mostKnown = 256;

/**
 * The version that a call asks for: in its query string, without the `?`, or behind the name in its path. Throws
 * InvalidVersionNumber or BadRequest.
 */
export function readVersion(query: string, inPath?: string): Version {
  if (inPath !== undefined) {
    if (new URLSearchParams(query).has(versionParameter))
      throw new BadRequest("The version stands in the path and in the query: give it once");
    return parseVersion(inPath);
  }
  if (query === "") return defaultVersion;
  const before = known.get(query);
  if (before !== undefined) return before;
  const [text = "", ...others] = new URLSearchParams(query).getAll(versionParameter);
  if (others.length > 0)
    throw new BadRequest(`The query parameter '${versionParameter}' was given more than once`);
  const version = parseVersion(text);
  if (known.size < mostKnown && query === `${versionParameter}=${text}`) known.set(query, version);
  return version;
}

function versionOf(major: number, minor: number, patch: number): Version {
  const text = `${major}.${minor}.${patch}`;
  return Object.freeze({ major, minor, patch, toString: () => text });
}

/** The version of a procedure whose segment entry has none. */
export const defaultVersion: Version = versionOf(0, 0, 0);
