// Files with the same name in several folders, and names that a bundler could confuse: each module
// keeps a file of its own.

import { describe, expect, it } from "vitest";

import { type Files, type Fixture, createFixture } from "./_fixture.ts";

const open = { access: "public" };
const page = '<!doctype html><script type="module" src="/src/main.ts"></script>';

/** A procedure that returns where it is from, and a class. */
const part = (name: string): string =>
  `import { ${name}Model } from "./model.ts";\nexport async function ${name}(): Promise<${name}Model> {\n  return new ${name}Model("body of ${name}");\n}\n`;
const model = (name: string): string =>
  `export class ${name}Model {\n  constructor(public text: string) {}\n}\n`;

/** The text of the file that the browser's manifest names for a module. */
function browserText(app: Fixture, id: string, part: "file" | "body" = "file"): string {
  const record = app.browserManifest().modules[id];
  return app.read(`dist/browser/${record?.[part] ?? `nothing for ${id}`}`);
}

describe("modules with one file name", () => {
  const folders = ["cart", "people", "People"];
  const files: Files = {
    "index.html": page,
    "src/main.ts": `import { startClient } from "seamline/client";\nawait startClient("ui");\n${folders.map((one) => `import { ${one} } from "./${one}/index.ts";\nconsole.log(${one});\n`).join("")}`,
    ...Object.fromEntries(
      folders.flatMap((one) => [
        [`src/${one}/index.ts`, part(one)],
        [`src/${one}/model.ts`, model(one)],
      ]),
    ),
    "ui.segment.json": JSON.stringify(
      Object.fromEntries(folders.map((one) => [`./${one}/index`, { [one]: open }])),
    ),
  };

  it("modules with the same file name have browser files of their own: procedures, bodies and classes", async () => {
    const app = createFixture(files);
    await app.build();
    for (const one of folders) {
      expect(browserText(app, `${one}/index`), one).toContain(`\`${one}/${one}\``);
      expect(browserText(app, `${one}/index`, "body"), one).toContain(`body of ${one}`);
      expect(browserText(app, `${one}/model`), one).toMatch(new RegExp(`\\bas ${one}Model\\b`));
    }
    const named = Object.values(app.browserManifest().modules).flatMap(({ file, body }) =>
      body === undefined ? [file] : [file, body],
    );
    expect(new Set(named.map((file) => file.toLowerCase())).size).toBe(9);
  });

  it("modules with the same file name have files of their own for client.import and browserModules", async () => {
    const app = createFixture({
      "index.html": page,
      "src/main.ts":
        'import { startClient } from "seamline/client";\nconst c = await startClient();\nawait c.import("./a/tool.js");\n',
      "src/a/tool.ts": 'export const tool = "tool of a";\n',
      "src/b/tool.ts": 'export const tool = "tool of b";\n',
      "src/b-/tool.ts": 'export const tool = "tool of b-";\n',
      "src/b_/tool.ts": 'export const tool = "tool of b_";\n',
      "src/b+/tool+.ts": 'export const tool = "tool of b+";\n',
      "src/b+/tool_.ts": 'export const tool = "tool_ of b+";\n',
      "a.segment.json": "{}",
    });
    await app.build({ browserModules: ["b*/*"] });
    for (const [id, text] of Object.entries({
      "a/tool": "tool of a",
      "b/tool": "tool of b",
      "b-/tool": "tool of b-",
      "b_/tool": "tool of b_",
      "b+/tool+": "tool of b+",
      "b+/tool_": "tool_ of b+",
    }))
      expect(browserText(app, id), id).toMatch(
        new RegExp(`["'\`]${text.replace("+", "\\+")}["'\`]`),
      );
  });

  it("modules with the same file name have files of their own without hashes in names, and next to files of another plugin", async () => {
    const other = `{ name: "other", buildStart() { if (this.environment.name === "client") globalThis.emitted = this.emitFile({ type: "chunk", id: "/src/other/index.ts", name: "index" }); },
      generateBundle() { if (this.environment.name === "client") this.emitFile({ type: "asset", fileName: "emitted.txt", source: this.getFileName(globalThis.emitted) }); } }`;
    const app = createFixture({
      ...files,
      "src/other/index.ts": 'console.log("of another plugin");\n',
      "vite.config.js": `export default { plugins: [${other}], build: { rolldownOptions: { output: { entryFileNames: "js/[name].js", chunkFileNames: "js/[name].js" } } } };\n`,
    });
    await app.build();
    for (const one of folders)
      expect(browserText(app, `${one}/index`, "body"), one).toContain(`body of ${one}`);
    for (const one of folders)
      expect(browserText(app, `${one}/index`), one).toContain(`\`${one}/${one}\``);
    expect(app.read(`dist/browser/${app.read("dist/browser/emitted.txt")}`)).toContain(
      "of another plugin",
    );
  });
});

describe("what pages bring along", () => {
  it("style sheets, images and workers with the same name have files of their own", async () => {
    const both = ["cart", "people"];
    const app = createFixture({
      "index.html": page,
      "src/main.ts": both
        .map((one) => `import { ${one} } from "./${one}/index.ts";\nconsole.log(${one}());\n`)
        .join(""),
      ...Object.fromEntries(
        both.flatMap((one) => [
          [
            `src/${one}/index.ts`,
            `import "./index.css";\nimport image from "./image.svg?no-inline";\nexport const ${one} = () => [image, new Worker(new URL("./worker.ts", import.meta.url), { type: "module" })];\n`,
          ],
          [`src/${one}/index.css`, `.${one} { color: red }\n`],
          [
            `src/${one}/image.svg`,
            `<svg xmlns="http://www.w3.org/2000/svg"><title>${one}</title></svg>\n`,
          ],
          [`src/${one}/worker.ts`, `postMessage("worker of ${one}");\n`],
        ]),
      ),
      "a.segment.json": "{}",
      "vite.config.js": 'export default { worker: { format: "es" } };\n',
    });
    await app.build();
    const written = app
      .list("dist/browser/assets")
      .map((file) => [file, app.read(`dist/browser/assets/${file}`)] as const);
    for (const one of both) {
      const [image] =
        written.find(([file, text]) => file.endsWith(".svg") && text.includes(`<title>${one}<`)) ??
        [];
      const [worker] =
        written.find(
          ([file, text]) => file.startsWith("worker-") && text.includes(`worker of ${one}`),
        ) ?? [];
      const script = written.find(
        ([file, text]) =>
          file.endsWith(".js") && text.includes(`${image}`) && text.includes(`${worker}`),
      );
      expect([image, worker, script?.[0]], one).not.toContain(undefined);
      expect(
        written.some(([file, text]) => file.endsWith(".css") && text.includes(`.${one}`)),
      ).toBe(true);
    }
  });
});

describe("modules of the server whose files could have one name", () => {
  it("modules of the server don't clash with parts, the graph or files outside the source folder", async () => {
    const app = createFixture({
      "src/quote.ts":
        'import "./quote~body.ts";\nimport "./_seam.ts";\nimport "./_app/lib/a.ts";\nimport "../lib/a.ts";\nimport "../lib/a b.ts";\nimport "../lib/a_b.ts";\nexport async function quote() { return "the procedure"; }\n',
      "src/quote~body.ts": 'export async function beside() { return "beside"; }\n',
      "src/_seam.ts": 'export async function graph() { return "not the graph"; }\n',
      "src/_app/lib/a.ts": 'export const where = "inside";\nglobalThis.ran = [where];\n',
      "lib/a.ts": 'export const where = "outside";\nglobalThis.ran.push(where);\n',
      "lib/a b.ts": 'export const where = "with a blank";\nglobalThis.ran.push(where);\n',
      "lib/a_b.ts": 'export const where = "with a line";\nglobalThis.ran.push(where);\n',
      "a.segment.json": JSON.stringify({
        "./quote": { quote: open },
        "./quote~body": { beside: open },
        "./_seam": { graph: open },
      }),
    });
    await app.build();
    const { modules, graph } = app.manifest();
    const text = (file: string | undefined): string => app.read(`dist/server/modules/${file}`);
    expect(text(graph)).toContain("createGraph");
    expect(text(modules["_seam"]?.body)).toContain("not the graph");
    expect(text(modules["quote"]?.body)).toContain("the procedure");
    expect(text(modules["quote~body"]?.body)).toContain('"beside"');
    await import(app.path(`dist/server/modules/${modules["quote"]?.body}`));
    expect((globalThis as { ran?: unknown }).ran).toEqual([
      "inside",
      "outside",
      "with a blank",
      "with a line",
    ]);
  });
});
