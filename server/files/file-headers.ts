// The headers that a configuration adds to files and pages.

import type { HeaderRules } from "../config/config-headers.ts";

/** The headers for a decoded URL path, with names in lower case. */
export type FileHeaders = (path: string) => Readonly<Record<string, string>>;

/** If two rules match a path and set the same header, the later one wins. */
export async function createFileHeaders(rules: HeaderRules = {}): Promise<FileHeaders> {
  if (Object.keys(rules).length === 0) return () => ({});
  const { picomatch } = await import("./globs.ts");
  const compiled = Object.entries(rules).map(([glob, fields]) => ({
    matches: picomatch(glob, { dot: true }),
    fields: Object.fromEntries(
      Object.entries(fields).map(([name, value]) => [name.toLowerCase(), value]),
    ),
  }));
  return (path) =>
    Object.assign(
      {},
      ...compiled.filter(({ matches }) => matches(path)).map(({ fields }) => fields),
    ) as Record<string, string>;
}
