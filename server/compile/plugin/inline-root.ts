// Vite's root for `seamline build` and `seamline dev`.

import { dirname, resolve } from "node:path";

import type { InlineConfig, UserConfig } from "vite";

import { isInside, realPath } from "../../files/sources.ts";
import { inputFiles, inputOf } from "../write/environments.ts";
import { environmentNames } from "../read/module-ids.ts";

/**
 * Vite writes and serves a page at its path below the root, so a page in the source folder makes
 * that folder the root. Not if the configuration names entries elsewhere, which Vite couldn't
 * write.
 */
export function inlineRoot(
  found: UserConfig | undefined,
  root: string,
  index: string | undefined,
): InlineConfig {
  const inputs = [found ?? {}, found?.environments?.[environmentNames.browser] ?? {}].flatMap(
    (environment) => inputFiles(inputOf(environment), [root]),
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
