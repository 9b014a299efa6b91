// Components of frameworks such as Vue and Svelte: markup files with scripts in them. A bundler's
// plugin compiles them; what their scripts import and start counts like a page's.

import type { ModuleDescription } from "../../../src/split/describe/describe.ts";
import type { Modules } from "./modules.ts";

/** Whether an import leads to a component. */
export function isComponent(specifier: string): boolean {
  return /\.(?:vue|svelte)(?:\?.*)?$/.test(specifier);
}

/** Describes the scripts of a component, each parsed as a module. */
export function describeComponent(file: string, modules: Modules): readonly ModuleDescription[] {
  return modules.memory.of(file, "component", () =>
    scriptsIn(modules.text(file)).map(({ text, attributes }) => {
      const language = /\blang\s*=\s*["']?[jt]sx\b/i.test(attributes) ? "tsx" : "ts";
      return modules.describeText(text, `${file}.${language}`);
    }),
  );
}

/** A script element in markup. */
export interface MarkupScript {
  readonly attributes: string;
  /** With everything around it blanked, so that positions are those of the file. */
  readonly text: string;
}

/** The scripts in markup. Scanning for tags is enough, as Vite or a plugin parses it for the build. */
export function scriptsIn(markup: string): readonly MarkupScript[] {
  const visible = markup.replace(/<!--[\s\S]*?-->/g, blank);
  return [
    ...visible.matchAll(/<script\b((?:"[^"]*"|'[^']*'|[^>"'])*)>([\s\S]*?)<\/script\s*>/gi),
  ].map((match) => {
    const [whole, attributes = "", text = ""] = match;
    const start = match.index + whole.indexOf(">", "<script".length + attributes.length) + 1;
    return { attributes, text: blank(markup.slice(0, start)) + text };
  });
}

function blank(text: string): string {
  return text.replace(/[^\n\r]/g, " ");
}
