// Whether changed modules may declare other types than before. Most saves change code inside a function with a
// written result, which no type outside of it depends on.

import type { Modules } from "../compile/read/modules.ts";
import type { Parse } from "../../src/split/write/split-module.ts";
import { child, isFunction, programOf, walk } from "../../src/split/read/tree.ts";

/** Changed files, each with its text before, if it was a module that had been read. */
export type ChangedFiles = ReadonlyMap<string, string | undefined>;

/** Whether these changes leave all types as they were, apart from those inside functions. */
export function keepsTypes(
  changed: ChangedFiles,
  modules: Pick<Modules, "byFile" | "text">,
  parse: Parse,
): boolean {
  return [...changed].every(
    ([file, before]) =>
      before !== undefined &&
      modules.byFile(file) !== undefined &&
      declarationsIn(before, file, parse) === declarationsIn(modules.text(file), file, parse),
  );
}

/**
 * The source without the bodies of functions whose results have written types. An inferred result depends on
 * the body, and the types of fields depend on the constructor's.
 */
function declarationsIn(source: string, file: string, parse: Parse): string {
  const kept: string[] = [];
  let at = 0;
  walk(programOf(parse(file, source)), (node) => {
    const body = isFunction(node) && child(node, "returnType") ? child(node, "body") : undefined;
    if (body?.type !== "BlockStatement") return true;
    kept.push(source.slice(at, body.start));
    at = body.end;
    return false;
  });
  return [...kept, source.slice(at)].join("{}");
}
