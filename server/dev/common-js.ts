// CommonJS among the modules that Vite takes for sources, as it does with packages that links lead to. A build makes modules of it. Vite's runner can't
// run it, but Node can.

import { pathToFileURL } from "node:url";

import type { FetchResult } from "vite";

import { isCommonJs } from "../build/package-of.ts";

type Fetched = Extract<FetchResult, { file: string | null }>;

/** What a runner is to do with such a module: have Node load it, once for the whole process. */
export function commonJs({
  file,
}: Pick<Fetched, "file">): Extract<FetchResult, { externalize: string }> | undefined {
  return file !== null && isCommonJs(file)
    ? { externalize: pathToFileURL(file).href, type: "commonjs" }
    : undefined;
}
