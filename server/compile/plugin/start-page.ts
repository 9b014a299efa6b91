// A module for pages in which nothing calls `startClient`; it starts the client without segments.

import type { HtmlTagDescriptor } from "vite";

import { startId } from "../read/module-ids.ts";

/** Not awaited, so that the page renders meanwhile. Earlier calls wait by themselves. */
export const startCode = 'import { startClient } from "seamline/client";\nvoid startClient();\n';

/**
 * First in the page, as modules run in document order. The bundler inlines it: built pages have no
 * such script.
 */
export const startTag: HtmlTagDescriptor = {
  tag: "script",
  attrs: { type: "module" },
  children: `import ${JSON.stringify(startId)};`,
  injectTo: "head-prepend",
};
