// Parses and analyzes a module once, for everything that describes, checks or splits it.

import type { Problem } from "../../base/problem.ts";
import { analyze, type Module } from "./analyze.ts";
import { parseProblems, type SourceText } from "./code-frame.ts";
import type { Parse } from "./tree.ts";

export interface ModuleReading extends SourceText {
  /** `undefined` if the source can't be parsed; `problems` say why. */
  readonly module: Module | undefined;
  readonly problems: readonly Problem[];
}

/** Reads a module. Mistakes in the source don't throw. */
export function readModule({
  file,
  source,
  parse,
}: SourceText & { readonly parse: Parse }): ModuleReading {
  const parsed = parse(file, source);
  if (parsed.errors.length > 0)
    return {
      file,
      source,
      module: undefined,
      problems: parseProblems({ file, source }, parsed.errors),
    };
  return { file, source, module: analyze({ file, source, parse }, parsed), problems: [] };
}
