// Modules that pages reach through a module with procedures.

import { expect, it } from "vitest";

import { createFixture } from "./_fixture.ts";
import { readAt } from "./_reading.ts";

it.each([
  ["by name", 'export { begin } from "./start.ts";'],
  ["as a whole", 'export * from "./start.ts";'],
])("a page reaches a module that a module with procedures re-exports %s", async (_name, code) => {
  const { root } = createFixture({
    "ui.segment.json": '{ "./quote": { "quote": { "access": "public" } } }',
    "index.html": '<script type="module" src="/src/main.ts"></script>',
    "src/main.ts": 'import { begin } from "./quote.ts";\nawait begin();\n',
    "src/quote.ts": `${code}\nexport async function quote() { return 1; }\n`,
    "src/start.ts":
      'import { startClient } from "seamline/client";\nexport const begin = () => startClient("ui");\n',
  });
  const application = await readAt(root);
  expect(application.problems).toEqual([]);
  expect(application.warnings).toEqual([]);
  expect(application.browserSegments).toEqual(["ui"]);
});
