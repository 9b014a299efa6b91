// Classes that only pages import, in the server's build.

import { describe, expect, it } from "vitest";

import { createFixture, type Files } from "./_fixture.ts";

const page = (...imports: readonly string[]): Files => ({
  "index.html":
    '<!doctype html><html><body><script type="module" src="./src/main.ts"></script></body></html>\n',
  "src/main.ts": [
    ...imports.map((name) => `import "./${name}.ts";`),
    'import { run } from "./api/run.ts";',
    "await run(0);",
  ].join("\n"),
  "src/api/run.ts":
    "export async function run(value: unknown): Promise<unknown> { return value; }\n",
  "run.segment.json": '{ "./api/run": { "run": { "access": "public" } } }',
});

describe("classes that only pages import", () => {
  it("classes that only pages import are in both manifests, marked in the server's", async () => {
    const app = createFixture({
      ...page("ui/extra"),
      "src/ui/extra.ts": 'import { label } from "./label.ts";\nexport class Extra { x = label; }\n',
      "src/ui/label.ts": 'export const label = "l";\n',
      "src/ui/unused.ts": "export class Unused {}\n",
    });
    const { manifest, warnings } = await app.build();
    const record = {
      key: "ui/Extra",
      module: "ui/extra",
      export: "Extra",
      args: [],
      fields: ["x"],
    };
    expect(manifest.classes).toEqual([{ ...record, page: true }]);
    expect(app.browserManifest().classes).toEqual([record]);
    expect(manifest.modules["ui/extra"]?.file).toBe("ui/extra.js");
    expect(app.list("dist/server/modules")).toContain("ui/label.js");
    expect(warnings).toEqual([]);
  });

  it("imports of a class that only pages import neither fail the build nor cause warnings", async () => {
    const app = createFixture({
      ...page("ui/a", "ui/b", "ui/c"),
      "src/ui/a.ts":
        'import "./a.css";\nimport url from "./a.svg?url";\nimport text from "./a.txt?raw";\nexport class A { a = url + text; }\n',
      "src/ui/a.css": "p { color: red; }\n",
      "src/ui/a.svg": '<svg xmlns="http://www.w3.org/2000/svg"/>\n',
      "src/ui/a.txt": "text",
      "src/ui/b.ts": 'import { draw } from "in-browsers";\nexport class B { b = draw; }\n',
      "node_modules/in-browsers/package.json":
        '{ "name": "in-browsers", "type": "module", "exports": { ".": { "browser": "./index.js" } } }',
      "node_modules/in-browsers/index.js": "export const draw = () => document.body;\n",
      // A virtual module that a plugin has for pages only.
      "src/ui/c.ts": 'import { made } from "virtual:made";\nexport class C { c = made; }\n',
      "vite.config.js": `export default { plugins: [{
        name: "made",
        applyToEnvironment: (environment) => environment.name === "client",
        resolveId: (id) => (id === "virtual:made" ? "\\0made" : undefined),
        load: (id) => (id === "\\0made" ? "export const made = 1;" : undefined),
      }] };\n`,
    });
    const { manifest, warnings } = await app.build();
    expect(manifest.classes.map(({ key }) => key)).toEqual(["ui/A", "ui/B", "ui/C"]);
    expect(warnings).toEqual([]);
    // The server's files include no style sheet.
    const files = Object.keys(manifest.files);
    expect(
      Object.values(manifest.files).flatMap(({ imports }) =>
        imports.filter((one) => !files.includes(one)),
      ),
    ).toEqual([]);
  });

  it("classes that only pages import are left out with a warning if a plugin can't compile them for servers", async () => {
    const app = createFixture({
      ...page("ui/a", "ui/b"),
      "src/ui/a.ts": "export class A { a = 1; }\n",
      "src/ui/b.ts": "export class B { b = 1; }\n",
      "vite.config.js": `export default { plugins: [{
        name: "for-pages",
        transform(code, id) { if (this.environment.name === "server" && id.endsWith("/b.ts")) this.error("b.ts is for pages"); },
      }] };\n`,
    });
    const { manifest, warnings } = await app.build();
    expect(manifest.classes).toEqual([]);
    expect(app.browserManifest().classes.map(({ key }) => key)).toEqual(["ui/A", "ui/B"]);
    expect(warnings).toEqual([
      {
        file: "src/ui/a.ts, src/ui/b.ts",
        message: expect.stringMatching(
          /^these modules, whose classes only pages import, can't be built for servers, so servers refuse their instances: .*b\.ts is for pages/,
        ),
        hint: "If servers need the classes, move them to modules that import nothing that is for pages only.",
      },
    ]);
  });

  it("mistakes in modules of nodes are reported next to classes that only pages import", async () => {
    const app = createFixture({
      ...page("ui/a"),
      "src/ui/a.ts": "export class A { a = 1; }\n",
      "src/api/run.ts":
        'import { gone } from "./gone.ts";\nexport async function run(value: unknown): Promise<unknown> { return gone(value); }\n',
    });
    expect(await app.problems()).toEqual([
      expect.objectContaining({
        file: "src/api/run.ts",
        message: expect.stringContaining('"./gone.ts" isn\'t a file'),
      }),
    ]);
  });
});
