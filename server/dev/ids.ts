// What modules are called in development: ids of Vite's module graphs, and addresses that pages ask for.

import { relative } from "node:path";

import type { CutModule } from "../build/cut.ts";
import { isClosed } from "../build/kept-back.ts";
import { isInside, slashed } from "../sources.ts";

/** The part that stands for the real body in a page, and changes under it (see {@link holderText}). */
export const codeId = (file: string): string => `${file}?seamline=code`;

/** Nodes take the runtime from here: the very one that runs them, so that both know the same classes. */
export const runtimeId = "seamline:runtime";

/** File and part of a module's id; other queries say nothing of what the module is. */
export function partOfId(id: string): { readonly file: string; readonly part: string | undefined } {
  const [file = id, query = ""] = id.split("?");
  return { file, part: /(?:^|&)seamline=(\w+)/.exec(query)?.[1] };
}

export interface Addresses {
  readonly root: string;
  readonly base: string;
}

/** The path below the origin, without its first slash, at which Vite serves a file; with the stamp of its last change, as Vite's own imports have it. */
export function addressOf(id: string, { root, base }: Addresses, changed = 0): string {
  const [file = id, query] = id.split("?");
  const path = isInside(root, file)
    ? slashed(relative(root, file))
    : `@fs/${slashed(file).replace(/^\//, "")}`;
  const queries = [changed > 0 ? `t=${changed}` : "", query ?? ""]
    .filter((one) => one !== "")
    .join("&");
  return `${base.replace(/^\//, "")}${path}${queries === "" ? "" : `?${queries}`}`;
}

/** The procedures of a module that a page may hold now or when they have moved: all but those that browsers are to know nothing of. */
export function heldNames(
  { procedures }: Pick<CutModule, "procedures">,
  clients: readonly string[],
): readonly string[] {
  return procedures.filter((one) => !isClosed(one, clients)).map((one) => one.export);
}

/**
 * What a page loads in place of a body: each procedure under its name, for as long as the page lives, handing over to whatever code is the
 * latest. It names those of {@link heldNames}, whether pages hold them or not, so it stays when one moves. A call that runs has taken its
 * function already and comes to its end; one that fails to load leaves the former, and what the latest code lacks, having left the page,
 * is the former's until nobody is led here any more.
 */
export function holderText(file: string, exports: readonly string[]): string {
  const lines = exports.map(
    (_, index) =>
      `function $${index}(...args) { return code[${JSON.stringify(exports[index])}].apply(this, args); }`,
  );
  const names = exports.map((name, index) => `$${index} as ${name}`);
  const code = JSON.stringify(codeId(file));
  return `import * as first from ${code};
let code = { ...first };
${lines.join("\n")}
export { ${names.join(", ")} };
if (import.meta.hot) import.meta.hot.accept(${code}, (next) => { code = { ...code, ...next }; });
`;
}
