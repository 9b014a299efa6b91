// Pages in which nothing calls `startClient`: they get a module that does, before their own. An application that has no segment for browsers
// has nothing to name there, and so nothing to write.

import type { HtmlTagDescriptor } from "vite";

/** What such a page imports. */
export const startId = "seamline:start";

/** Not awaited, so that the page is drawn meanwhile: a call that comes earlier waits by itself. */
export const startCode = 'import { startClient } from "seamline/client";\nvoid startClient();\n';

/** First of all, as modules run in their order in the page. The bundler takes it in with them: no script stands in a built page. */
export const startTag: HtmlTagDescriptor = {
  tag: "script",
  attrs: { type: "module" },
  children: `import ${JSON.stringify(startId)};`,
  injectTo: "head-prepend",
};
