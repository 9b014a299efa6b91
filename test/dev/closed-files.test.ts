// Files with service configurations and keys: Vite's servers don't serve them, whatever their names
// and however they are requested.

import { createBuilder, createServer, type InlineConfig, preview } from "vite";
import { describe, expect, it, onTestFinished, vi } from "vitest";

import { seamline } from "../../server/vite/vite-plugin.ts";
import { freePort } from "../_free-port.ts";
import { createFixture } from "../build/_fixture.ts";
import { ask } from "./_ask.ts";
import { develop, type Files, shop } from "./_session.ts";

const key = "planted-trust-key-of-a-service";
const node = `{\n  "mode": "node",\n  "url": "http://127.0.0.1:3001",\n  "repository": "http://127.0.0.1:3000",\n  "trustKey": "${key}"\n}\n`;
const pem = (what: string): string => `-----BEGIN ${what}-----\n${key}\n-----END ${what}-----\n`;
const closed: Files = {
  "node.json": node,
  "config/gateway.json": node.replace('"node"', '"gateway"'),
  "config/a b ü.json": node,
  "src/settings.json": node,
  // Invalid, as while it is being edited.
  "broken.json": node.replace('"repository"', ', "repository"'),
  "half.json": `{ "url": "http://127.0.0.1:3001", "trustKey": "${key}" }`,
  "marked.json": `\uFEFF  ${node}`,
  "proxy.conf": node.replace('"node"', '"proxy"'),
  "named-as-nothing": node,
  "tls/service.key": pem("PRIVATE KEY"),
  "tls/service.txt": pem("RSA PRIVATE KEY"),
  "tls/service.cer": pem("CERTIFICATE"),
  "tls/service.p12": key,
  "public/left.json": node,
  ".seamline/notes": key,
};
/** The output of a build. */
const built: Files = {
  "dist/server/modules/shop/inner~body.js": `export const key = "${key}";`,
  "dist/server/modules/shop/inner~body.js.map": JSON.stringify({ sourcesContent: [key] }),
  "dist/server/manifest.json": JSON.stringify({ procedures: [key] }),
  "dist/server/manifest.browser.json": JSON.stringify({ procedures: [key] }),
};
const open: Files = {
  "data.json": '{ "mode": "dark", "url": "https://shop.example/" }',
  "public/prices.json": '{ "tweed": 31.5 }',
  "keys/public.txt": "-----BEGIN PUBLIC KEY-----\nfor all\n-----END PUBLIC KEY-----\n",
  "notes.txt": 'It says "mode": "node".',
};

/** Every path by which Vite finds a file. */
function pathsTo(root: string, file: string): readonly string[] {
  const path = `/${file.replace(/^public\//, "")}`;
  const encoded = encodeURI(path);
  const all = path
    .split("")
    .map((letter) =>
      letter === "/"
        ? "/"
        : `%${Buffer.from(letter)
            .toString("hex")
            .replace(/(..)(?=.)/g, "$1%")}`,
    )
    .join("");
  const absolute = `/@fs${encodeURI(`${root}/${file}`)}`;
  const addresses = [
    encoded,
    all,
    `/x/..${encoded}`,
    `/./${encoded}`,
    `/${encoded}`,
    encoded.toUpperCase(),
    absolute,
    `/@fs/${absolute.slice(4)}`,
    `/@id/${root}/${encodeURI(file)}`,
    `/~app${encoded}`,
  ];
  const queries = [
    "",
    "?raw",
    "?url",
    "?inline",
    "?import",
    "?import&raw",
    "?import&url",
    "?raw&import",
    "?t=1",
    "?v=1&raw",
    "?worker",
    "?x#y",
    "?html-proxy",
  ];
  return [
    ...addresses.flatMap((address) => queries.map((query) => address + query)),
    `${encoded}/`,
    `${encoded}.`,
    `${encoded}%20`,
    `${encoded}%00`,
    `${encoded}::$DATA`,
    `${encoded}%3fraw`,
    `${absolute}/`,
    `${absolute}.`,
    encoded.replaceAll("/", "\\"),
  ];
}

async function refuses(url: string, root: string, files: Files): Promise<void> {
  const leaks: string[] = [];
  for (const file of Object.keys(files))
    for (const path of pathsTo(root, file))
      for (const method of ["GET", "POST", "HEAD"]) {
        const { text, headers } = await ask(url, {
          path,
          method,
          headers: { "sec-fetch-dest": "document" },
        });
        if (
          text.includes(key) ||
          (method === "HEAD" &&
            Number(headers["content-length"]) === Buffer.byteLength(files[file] ?? ""))
        )
          leaks.push(`${method} ${path}`);
      }
  expect(leaks).toEqual([]);
}

async function served(
  files: Files,
  more: InlineConfig = {},
): Promise<{ url: string; root: string }> {
  vi.stubEnv("VITEST", undefined);
  onTestFinished(() => void vi.unstubAllEnvs());
  const app = createFixture({ ...shop, ...files });
  const server = await createServer({
    root: app.root,
    configFile: false,
    logLevel: "silent",
    plugins: [seamline()],
    resolve: { alias: { "/~app": app.root } },
    ...more,
    server: { port: await freePort(), host: "127.0.0.1", ws: false, watch: null, ...more.server },
  });
  onTestFinished(async () => await server.close());
  await server.listen();
  return { url: server.resolvedUrls?.local[0] ?? "", root: app.root };
}

describe("configurations and keys", () => {
  it("`vite` doesn't serve configurations and keys, whatever their names and however they are requested", async () => {
    const { url, root } = await served({ ...closed, ...open });
    await refuses(url, root, closed);
    for (const [file, path] of [
      ["node.json", "/node.json"],
      ["config/gateway.json", "/config/gateway.json?raw"],
      ["proxy.conf", "/proxy.conf?url"],
      ["tls/service.key", "/tls/service.key"],
    ])
      expect((await ask(url, { path: path ?? "" })).status, file).toBe(403);
    for (const [file, text] of Object.entries(open))
      expect((await ask(url, { path: `/${file.replace("public/", "")}` })).text, file).toBe(text);
  });

  it("configurations and keys aren't served even if Vite's own lists are switched off", async () => {
    const { url, root } = await served(closed, { server: { fs: { strict: false, deny: [] } } });
    await refuses(url, root, closed);
  });

  it("`seamline dev` doesn't serve configurations and keys, not even new ones", async () => {
    const { session, root, write } = await develop({ ...shop, ...open });
    write(closed);
    await refuses(session.url, root, closed);
    expect((await ask(session.url, { path: "/node.json" })).status).toBe(403);
    expect((await ask(session.url, { path: "/data.json" })).text).toBe(open["data.json"]);
  });

  it("files built for browsers are served, but not files built for servers", async () => {
    const { url, root } = await served({ ...built, "dist/browser/page.txt": "for all" });
    await refuses(url, root, built);
    expect((await ask(url, { path: "/dist/server/manifest.json" })).status).toBe(403);
    expect((await ask(url, { path: "/dist/browser/page.txt" })).text).toBe("for all");
    const { session, root: folder } = await develop({ ...shop, ...built });
    await refuses(session.url, folder, built);
  });

  it("configurations and keys aren't served below Vite's base", async () => {
    const { url, root } = await served(closed, { base: "/app/" });
    await refuses(new URL(url).origin, root, closed);
    expect((await ask(url, { path: "/app/node.json" })).status).toBe(403);
  });

  it("an import of a configuration by a page is a mistake, in development and in a build", async () => {
    const main =
      'import settings from "./settings.json";\nimport text from "../proxy.conf?raw";\ndocument.title = settings.url + text;\n';
    const { url } = await served({ ...closed, "src/main.ts": main });
    for (const path of ["/src/settings.json?import", "/proxy.conf?import&raw"]) {
      const { status, text } = await ask(url, { path });
      expect([status, text.includes(key)], path).toEqual([403, false]);
    }
    // The message doesn't quote the file.
    const shown = (await ask(url, { path: "/src/main.ts" })).text;
    expect(shown).toContain("and a page imports it");
    expect(shown).not.toContain(key);
    vi.unstubAllEnvs();
    const app = createFixture({ ...shop, ...closed, "src/main.ts": main });
    const message = "this file configures a service or holds its keys, and a page imports it";
    expect(await app.problems()).toMatchObject([
      { file: "src/main.ts", line: 1, message: expect.stringContaining(message) },
      { file: "src/main.ts", line: 2 },
    ]);
  });

  it("a page gets no configuration by ?import, ?raw, a glob or a URL", async () => {
    vi.stubEnv("VITEST", undefined);
    onTestFinished(() => void vi.unstubAllEnvs());
    const app = createFixture({ ...shop, ...closed });
    const server = await createServer({
      root: app.root,
      configFile: false,
      logLevel: "silent",
      plugins: [seamline()],
      server: { middlewareMode: true, ws: false, watch: null },
    });
    onTestFinished(async () => await server.close());
    for (const path of ["/src/settings.json?import", `/@fs${app.root}/proxy.conf?raw`]) {
      const error: unknown = await server.transformRequest(path).catch((thrown: unknown) => thrown);
      expect(
        [
          (error as Error).message.includes("and a page requests it"),
          JSON.stringify(error).includes(key),
        ],
        path,
      ).toEqual([true, false]);
    }
    vi.unstubAllEnvs();
    for (const text of [
      'const found = import.meta.glob("./*.json", { eager: true });\nconsole.log(found);\n',
      'document.title = new URL("./settings.json", import.meta.url).href;\n',
    ]) {
      app.write({ "src/main.ts": text });
      const problems = await app.problems();
      expect(problems).toMatchObject([
        { message: expect.stringContaining("this file configures a service") },
      ]);
      expect(JSON.stringify(problems)).not.toContain(key);
    }
  });

  it("code on servers may read configurations", async () => {
    const app = createFixture({
      ...closed,
      "src/run.ts":
        'import settings from "./settings.json";\nexport async function run() {\n  return settings.url;\n}\n',
      "run.segment.json": '{ "./run": { "run": { "access": "public" } } }',
    });
    await app.build();
    expect(app.list("dist/server/modules")).toContain("settings.json.js");
  });

  it("`vite preview` doesn't serve configurations and keys, whatever 'assets' says", async () => {
    vi.stubEnv("VITEST", undefined);
    onTestFinished(() => void vi.unstubAllEnvs());
    const standalone = JSON.stringify({
      mode: "standalone",
      url: "http://127.0.0.1:0",
      source: ".",
      trustKey: `${key}-${key}`,
      assets: ["**/*", "**/.seamline/**"],
    });
    const { "public/left.json": _, ...files } = closed;
    const app = createFixture({
      ...files,
      ...open,
      "seamline.json": standalone,
      "index.html": "<!doctype html><title>Shop</title>\n",
      "page.segment.json": "{}",
    });
    const options: InlineConfig = {
      root: app.root,
      configFile: false,
      logLevel: "silent",
      plugins: [seamline({ source: "." })],
    };
    await (await createBuilder(options, null)).buildApp();
    const server = await preview({
      ...options,
      preview: { port: await freePort(), host: "127.0.0.1" },
    });
    onTestFinished(async () => await server.close());
    const url = server.resolvedUrls?.local[0] ?? "";
    await refuses(url, app.root, files);
    expect((await ask(url, { path: "/data.json" })).text).toBe(open["data.json"]);
  });
});
