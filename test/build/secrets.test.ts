import { readFileSync } from "node:fs";

import { describe, expect, it } from "vitest";

import { createFixture } from "./_fixture.ts";

// Each is in the code of a server procedure, or in something that only it needs.
const secrets = [
  "s3cr3t-constant",
  "s3cr3t-template",
  "s3cr3t-comment",
  "s3cr3t-jsdoc",
  "s3cr3t-trailing",
  "s3cr3t-helper",
  "s3cr3t-import",
  "importedSecretName",
  "s3cr3t-module",
  "s3cr3t-default",
  "s3cr3t-property",
  "s3cr3t-type",
  "s3cr3t-class",
  "s3cr3t-statement",
  "s3cr3t-regexp",
  "s3cr3t-label",
];

const mixed = `import { importedSecretName, other } from "../secret/s3cr3t-import.ts";
import { shared } from "./shared.ts";

// s3cr3t-comment
const constant = "s3cr3t-constant";

/** s3cr3t-jsdoc */
export async function server(sku: string, key = "s3cr3t-default", { token = "s3cr3t-label" } = {}): Promise<string> {
  return \`s3cr3t-template \${constant} \${helper()} \${importedSecretName(key)} \${token} \${new Hidden().name}\${shared}\`; // s3cr3t-trailing
}

type Hint = "s3cr3t-type";
class Hidden {
  name: string | Hint = "s3cr3t-class";
}
server.toString = () => "s3cr3t-property";

function helper(): string {
  return other("s3cr3t-helper").replace(/s3cr3t-regexp/, "");
}
other("s3cr3t-statement");

/** The files that a browser may have. */
export async function browser(words: string[]): Promise<string[]> {
  return words.filter((word) => word !== visible);
}
const visible = "visible-constant";

export const everywhere = "visible-everywhere";
`;

const files = {
  "index.html":
    '<!doctype html><html><head></head><body><script type="module" src="/src/main.ts"></script></body></html>',
  "src/main.ts": `import { startClient } from "seamline/client";
import { browser, everywhere, server } from "./mixed/mixed.ts";
await startClient("ui");
console.log(await browser([]), await server("a"), everywhere);
`,
  "src/mixed/mixed.ts": mixed,
  "src/mixed/shared.ts": 'export const shared = "visible-shared";\n',
  "src/secret/s3cr3t-import.ts":
    'export const importedSecretName = (key: string): string => key + "s3cr3t-module";\nexport const other = importedSecretName;\n',
  "ui.segment.json": '{ "./mixed/mixed": { "browser": { "access": "public" } } }',
  "back.segment.json": '{ "./mixed/mixed": { "server": { "access": "public" } } }',
};

describe("nothing of a server's procedure reaches a browser", () => {
  it.each([
    ["without options", undefined],
    ["with source maps", "export default { build: { sourcemap: true } };"],
    [
      "with inline source maps and readable code",
      'export default { build: { sourcemap: "inline", minify: false } };',
    ],
  ])("nothing of a server's procedure is in the browser's files, %s", async (_, config) => {
    const app = createFixture({
      ...files,
      ...(config !== undefined && { "vite.config.js": config }),
    });
    const { manifest } = await app.build();
    expect(manifest.browserSegments).toEqual(["ui"]);
    const everything = [
      ...app.list("dist/browser").map((file) => `dist/browser/${file}`),
      "dist/server/manifest.browser.json",
    ];
    const found: string[] = [];
    let text = "";
    for (const file of everything) {
      text += textOf(app.path(file));
      for (const secret of secrets)
        if (file.includes(secret) || textOf(app.path(file)).includes(secret))
          found.push(`${secret} in ${file}`);
    }
    expect(found).toEqual([]);
    // The search works: it finds public strings in the browser's files and the rest in the server's.
    expect(text).toContain("visible-constant");
    expect(text).toContain("visible-everywhere");
    const server = app.list("dist/server").map((file) => app.read(`dist/server/${file}`));
    for (const secret of [
      "s3cr3t-constant",
      "s3cr3t-template",
      "s3cr3t-module",
      "s3cr3t-statement",
    ])
      expect(server.join()).toContain(secret);
    if (config !== undefined)
      expect(
        everything.some((file) => file.endsWith(".map")) || text.includes('"sourcesContent"'),
      ).toBe(true);
  });
});

describe("ways around the split are closed", () => {
  it.each([
    ["as text", 'import text from "./mixed/mixed.ts?raw";\nconsole.log(text);\n', /"\?raw"/],
    ["as an address", 'import url from "./mixed/mixed.ts?url";\nconsole.log(url);\n', /"\?url"/],
    [
      "as a file",
      'console.log(new URL("./mixed/mixed.ts", import.meta.url).href);\n',
      /new URL in src\/main\.ts/,
    ],
    [
      "as a worker",
      'import Worker from "./mixed/mixed.ts?worker";\nconsole.log(new Worker());\n',
      /worker/,
    ],
    [
      "in a worker",
      'new Worker(new URL("./worker.ts", import.meta.url), { type: "module" });\n',
      /imported by a worker/,
    ],
  ])("a build refuses to give a page a module with procedures %s", async (_, main, message) => {
    const app = createFixture({
      ...files,
      "src/main.ts": main,
      "src/worker.ts":
        'import { server } from "./mixed/mixed.ts";\nvoid server("a").then((text) => postMessage(text));\n',
    });
    expect(await app.problems({ browserSegments: ["ui"] })).toMatchObject([
      { file: "src/mixed/mixed.ts", message: expect.stringMatching(message) },
    ]);
  });
});

/** The file's text, with decoded inline source maps. */
function textOf(file: string): string {
  const text = readFileSync(file, "latin1");
  const maps = [...text.matchAll(/sourceMappingURL=data:[^,]*;base64,([\w+/=]+)/g)].map((match) =>
    Buffer.from(match[1] ?? "", "base64").toString("latin1"),
  );
  return [text, ...maps].join("\n");
}

describe("startClient in a worker of the application", () => {
  const worker = {
    ...files,
    "src/main.ts": 'new Worker(new URL("./worker.ts", import.meta.url), { type: "module" });\n',
    "src/worker.ts":
      'import { startClient } from "seamline/client";\nvoid startClient("ui").then(() => postMessage("started"));\n',
  };

  it("a worker imports the runtime from its URL, as pages do, instead of a bundled copy", async () => {
    const app = createFixture({
      ...worker,
      "vite.config.js": 'export default { worker: { format: "es" } };',
    });
    await app.build({ browserSegments: ["ui"] });
    const file = app.list("dist/browser").find((name) => /worker-.*\.js$/.test(name));
    expect(app.read(`dist/browser/${file}`)).toMatch(
      /from\s*["']\/svc\/[0-9a-f]{16}\/client\.js["']/,
    );
  });

  it("a worker that Vite builds as a classic script is refused, with the setting to change", async () => {
    expect(await createFixture(worker).problems({ browserSegments: ["ui"] })).toMatchObject([
      {
        file: "src/worker.ts",
        message: expect.stringMatching(/classic scripts/),
        hint: expect.stringMatching(/format: "es"/),
      },
    ]);
  });
});
