// Components of frameworks: files of markup with scripts in them, as Vue and Svelte have them. A bundler's plugin makes modules of them, and
// what those import and start counts like what any module does; only the scripts are read here.

import type { ModuleDescription } from "../../src/split/describe.ts";
import type { FileMemory } from "./file-memory.ts";
import type { Modules } from "./modules.ts";

/** Whether an import leads to a component. */
export function isComponent(specifier: string): boolean {
  return /\.(?:vue|svelte)(?:\?.*)?$/.test(specifier);
}

/** What the scripts of a component say, each of them a module to the parser; problems in them are in `name`. */
export function describeComponent(
  file: string,
  name: string,
  modules: Modules,
  memory: FileMemory,
): readonly ModuleDescription[] {
  return memory.of(file, "component", () =>
    scriptsIn(memory.text(file)).map(({ text, language }) =>
      modules.describeText(text, `${file}.${language}`, name),
    ),
  );
}

/** Each script with everything round it blanked, so that places in it are places of the file. */
export function scriptsIn(
  markup: string,
): readonly { readonly text: string; readonly language: "ts" | "tsx" }[] {
  const visible = markup.replace(/<!--[\s\S]*?-->/g, blank);
  return [
    ...visible.matchAll(/<script\b((?:"[^"]*"|'[^']*'|[^>"'])*)>([\s\S]*?)<\/script\s*>/gi),
  ].map((match) => {
    const [whole, attributes = "", text = ""] = match;
    const start = match.index + whole.indexOf(">", "<script".length + attributes.length) + 1;
    return {
      text: blank(markup.slice(0, start)) + text,
      language: /\blang\s*=\s*["']?[jt]sx\b/i.test(attributes) ? "tsx" : "ts",
    };
  });
}

function blank(text: string): string {
  return text.replace(/[^\n\r]/g, " ");
}
