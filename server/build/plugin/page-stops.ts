// In development, binds the `onStop` of each module of a page to that module: a browser can't tell
// which module is running.

import MagicString from "magic-string";
import type { ESTree, Plugin } from "vite";

import { developmentPath } from "../../../src/base/protocol.ts";
import { environmentNames } from "../write/environments.ts";
import { partId, parsePartId } from "../modules/module-ids.ts";
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

/** `undefined` if the module doesn't import `onStop`. */
function withOwnStops(
  code: string,
  program: ESTree.Program,
  address: string,
): { code: string; map: string } | undefined {
  const text = new MagicString(code);
  const locals: string[] = [];
  for (const statement of program.body) {
    if (statement.type !== "ImportDeclaration" || statement.source.value !== "seamline") continue;
    for (const specifier of statement.specifiers) {
      if (specifier.type !== "ImportSpecifier") continue;
      const { imported, local } = specifier;
      if (imported.type !== "Identifier" || imported.name !== "onStop") continue;
      text.update(specifier.start, specifier.end, `onStop as $page_${local.name}`);
      locals.push(local.name);
    }
  }
  if (locals.length === 0) return undefined;
  const [first = "", ...others] = locals;
  const aliases = others.map((name) => `const ${name} = ${first};`).join(" ");
  text.prepend(
    `import { moduleStops as $moduleStops } from "${developmentPath}"; const ${first} = await $moduleStops(${JSON.stringify(address)}, import.meta.hot); ${aliases}`,
  );
  return { code: text.toString(), map: text.generateMap({ hires: "boundary" }).toString() };
}
