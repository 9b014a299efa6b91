// The README's example: two modules and two segment files, and the same after the move.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "../_sources.ts";
import { blocksOf } from "./_blocks.ts";

const files = blocksOf("README.md", readFileSync(join(root, "README.md"), "utf8"))
  .filter(({ kind }) => kind === "file")
  .map(({ path, text }) => [path, text] as const);

/** Texts by their paths. Blocks with a path that stood before are those after the move. */
export const readmeExample = {
  before: Object.fromEntries(files.toReversed()),
  after: Object.fromEntries(files),
};
