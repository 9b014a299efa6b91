// Names of modules in development: ids in Vite's module graphs, and paths that pages request.

import { relative } from "node:path";

import { developmentPath } from "../../../src/base/protocol.ts";
import type { CutModule } from "../cut/cut.ts";
import { isClosed } from "../cut/closed-procedures.ts";
import { partId } from "../read/module-ids.ts";
import { isInside, slashed } from "../../files/sources.ts";

export interface Addresses {
  readonly root: string;
}

/**
 * The path below Vite's base, without its first slash, at which Vite serves a file. Like Vite's own
 * imports, it has the timestamp of the last change.
 */
export function addressOf(id: string, { root }: Addresses, changed = 0): string {
  const [file = id, query] = id.split("?");
  const path = isInside(root, file)
    ? slashed(relative(root, file))
    : `@fs/${slashed(file).replace(/^\//, "")}`;
  const queries = [changed > 0 ? `t=${changed}` : "", query ?? ""]
    .filter((text) => text !== "")
    .join("&");
  return `${path}${queries === "" ? "" : `?${queries}`}`;
}

/**
 * The procedures of a module that a page may hold now or after a move: all but those that are
 * hidden from browsers.
 */
export function proxiedNames(
  { procedures }: Pick<CutModule, "procedures">,
  browserSegments: readonly string[],
): readonly string[] {
  return procedures
    .filter((procedure) => !isClosed(procedure, browserSegments))
    .map((procedure) => procedure.export);
}

/**
 * The proxy module that a page loads in place of a body. It lives as long as the page, and each of
 * its functions calls the latest code. It exports all {@link proxiedNames}, whether pages hold them
 * or not, so it stays the same when one moves. A running call finishes with the function that it
 * started. Code that fails to load leaves the previous code in use, and so do functions that the
 * latest code lacks because they left the page, until no seam leads here any more.
 */
export function proxyModuleText(
  file: string,
  exports: readonly string[],
  addresses: Addresses,
): string {
  const lines = exports.map(
    (name, index) =>
      `function $${index}(...args) { return body.call(${JSON.stringify(name)}, this, args); }`,
  );
  const names = exports.map((name, index) => `$${index} as ${name}`);
  const code = JSON.stringify(partId.code(file));
  const address = JSON.stringify(addressOf(file, addresses));
  return `import * as code from ${code};
import { bodyOf } from "${developmentPath}";
const body = bodyOf(${address}, import.meta.url, code);
${lines.join("\n")}
export { ${names.join(", ")} };
if (import.meta.hot) import.meta.hot.accept(${code}, (next) => body.replace(next));
`;
}
