// In development, binds the `onStop` of each module of a page to that module: a browser can't tell
// which module is running.

import MagicString from "magic-string";
import type { ESTree, Plugin } from "vite";

import { developmentPath } from "../../../src/base/protocol.ts";
import { environmentNames } from "../read/module-ids.ts";
import { partId, parsePartId } from "../read/module-ids.ts";
import { addressOf } from "./ids.ts";

/** Sees modules after all other plugins, as JavaScript. */
export function pageStops(isActive: () => boolean): Plugin {
  return {
    name: "seamline:stops",
    apply: "serve",
    enforce: "post",
    applyToEnvironment: ({ name }) => isActive() && name === environmentNames.browser,
    transform: {
      filter: { code: /\bonStop\b/ },
      handler(code, id) {
        const { file, part } = parsePartId(id);
        const module = part === undefined ? file : partId[part](file);
        return withOwnStops(code, this.parse(code), addressOf(module, this.environment.config));
      },
    },
  };
}

/** `undefined` if the module doesn't import `onStop`, by itself or with all that the package has. */
function withOwnStops(
  code: string,
  program: ESTree.Program,
  address: string,
): { code: string; map: string } | undefined {
  const text = new MagicString(code);
  const declarations: string[] = [];
  for (const statement of program.body) {
    if (statement.type !== "ImportDeclaration" || statement.source.value !== "seamline") continue;
    for (const specifier of statement.specifiers) {
      const { name } = specifier.local;
      const hidden = `$page_${name}`;
      if (specifier.type === "ImportNamespaceSpecifier") {
        text.update(specifier.start, specifier.end, `* as ${hidden}`);
        declarations.push(`const ${name} = { ...${hidden}, onStop: $onStop };`);
      } else if (specifier.type === "ImportSpecifier" && isOnStop(specifier.imported)) {
        text.update(specifier.start, specifier.end, `onStop as ${hidden}`);
        declarations.push(`const ${name} = $onStop;`);
      }
    }
  }
  if (declarations.length === 0) return undefined;
  text.prepend(
    `import { moduleStops as $moduleStops } from "${developmentPath}"; const $onStop = await $moduleStops(${JSON.stringify(address)}, import.meta.hot); ${declarations.join(" ")}`,
  );
  return { code: text.toString(), map: text.generateMap({ hires: "boundary" }).toString() };
}

function isOnStop(imported: ESTree.ModuleExportName): boolean {
  return imported.type === "Identifier" && imported.name === "onStop";
}
