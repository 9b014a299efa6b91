// A source folder that doesn't exist, or that isn't read.

import { existsSync } from "node:fs";
import { relative } from "node:path";

import type { Problem } from "../../../src/base/problem.ts";
import { isListed, slashed } from "../../files/sources.ts";
import type { ApplicationGraph } from "../cut/application.ts";

/** Refuses such a folder. */
export function sourceFolder({
  root,
  source,
}: Pick<ApplicationGraph, "root" | "source">): readonly Problem[] {
  const file = slashed(relative(root, source));
  if (!existsSync(source))
    return [
      {
        file,
        message: "the source folder doesn't exist",
        hint: `Create it, or name another one: "source" in seamline.json or in the Vite plugin, --source for seamline build. If there is no application yet, seamline init creates one.`,
      },
    ];
  if (source === root || isListed(root, source)) return [];
  return [
    {
      file,
      message:
        "the source folder is here, but only files in the application folder are read, without node_modules and dot folders",
      hint: "Move the sources into the application folder, or start in a folder that holds both.",
    },
  ];
}
