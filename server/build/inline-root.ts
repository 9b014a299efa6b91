// Where Vite's root lies, for an application that `seamline build` or `seamline dev` serves by a configuration of their own.

import { dirname, resolve } from "node:path";

import type { InlineConfig, UserConfig } from "vite";

import { isInside, realPath } from "../sources.ts";
import { environmentNames, inputFiles, inputOf } from "./environments.ts";

/**
 * Vite writes and serves a page at its path below its root, so a page in the source folder makes that folder the root. Not where the
 * configuration names entries that lie elsewhere: Vite can't write those.
 */
export function inlineRoot(
  found: UserConfig | undefined,
  root: string,
  index: string | undefined,
): InlineConfig {
  const inputs = [found ?? {}, found?.environments?.[environmentNames.browser] ?? {}].flatMap(
    (one) => inputFiles(inputOf(one), [root]),
  );
  const inSource =
    index !== undefined &&
    dirname(index) !== root &&
    found?.root === undefined &&
    inputs.every((input) => isInside(dirname(index), realPath(input)));
  // Paths of the configuration stay relative to the application folder.
  const { publicDir = "public", envDir = "." } = found ?? {};
  return {
    root:
      found?.root === undefined ? (inSource ? dirname(index) : root) : resolve(root, found.root),
    ...(inSource && {
      publicDir: publicDir === false ? publicDir : resolve(root, publicDir),
      envDir: resolve(root, envDir || "."),
    }),
  };
}
