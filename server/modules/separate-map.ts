// Source maps of built modules. The build writes them into the modules, which halves the number of files that are
// written, hashed and fetched. A node puts them beside the modules again, as V8 keeps the text of the code that it
// runs.

import { existsSync } from "node:fs";
import { basename, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { parsedUrl } from "../../src/base/url.ts";

const mark = "//# sourceMappingURL=";
const encoded = /^data:application\/json[^,]*;base64,([\w+/=]+)\s*$/;

/**
 * The code of the built module `file` without the map in it, and this map with absolute sources: the
 * build wrote them relative to `folder`. `undefined` if it doesn't contain a map.
 */
export function separateMap(
  text: string,
  file: string,
  folder: string,
): { readonly code: string; readonly map: string } | undefined {
  const at = text.lastIndexOf(mark);
  const found = at === -1 ? undefined : encoded.exec(text.slice(at + mark.length))?.[1];
  if (found === undefined) return undefined;
  const map = relocated(Buffer.from(found, "base64").toString(), folder);
  if (map === undefined) return undefined;
  return { code: `${text.slice(0, at)}${mark}${encodeURIComponent(basename(file))}.map\n`, map };
}

function relocated(text: string, folder: string): string | undefined {
  let map: { sources?: unknown };
  try {
    map = JSON.parse(text) as { sources?: unknown };
  } catch {
    // The last lines of a module that says something else in such a comment.
    return undefined;
  }
  if (!Array.isArray(map.sources)) return undefined;
  const sources = map.sources.map((source) =>
    typeof source === "string" && parsedUrl(source) === undefined
      ? pathToFileURL(resolve(folder, source)).href
      : source,
  );
  // Node keeps the maps of all modules in memory: no texts that are on this machine anyway.
  const isHere = (source: unknown): boolean =>
    typeof source === "string" && source.startsWith("file:") && existsSync(new URL(source));
  return JSON.stringify({
    ...map,
    sources,
    ...(sources.every(isHere) && { sourcesContent: undefined }),
  });
}
