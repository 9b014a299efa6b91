// A build keeps the ones before it, and the service with the files serves them.

import { existsSync, renameSync, rmSync } from "node:fs";
import { describe, expect, it } from "vitest";
import type { Server } from "../../server/start/server.ts";
import type { Fixture } from "../build/_fixture.ts";
import { anyPort, applicationOf, start } from "./_started.ts";

const trustKey = "the-trust-key-of-revisions";
const files = {
  "index.html": '<!doctype html><head></head><script type="module" src="./src/main.ts"></script>\n',
  "src/main.ts":
    'import { startClient } from "seamline/client";\nimport { cut } from "./shop/cut.ts";\nawait startClient("ui");\nawait cut("tweed");\nawait import("./later.ts");\n',
  "src/later.ts": 'export const word = "first";\n',
  "src/ui/look.ts": 'export async function look() {\n  return "first";\n}\n',
  "src/shop/roll.ts": 'export class Roll {\n  sku = "tweed";\n}\nexport const edition = "first";\n',
  "src/shop/cut.ts":
    'import { edition } from "./roll.ts";\nexport async function cut(sku: string) {\n  return `${sku}, ${edition}`;\n}\n',
  "ui.segment.json": '{ "./ui/look": { "look": { "access": "public" } } }',
  "shop.segment.json": '{ "./shop/cut": { "cut": { "access": "public" } } }',
};
type Application = ReturnType<typeof applicationOf>;

/** Builds the application with this word in place of the last one; returns the revision. */
async function build(application: Fixture, word: string, revisions?: number): Promise<string> {
  for (const name of ["src/later.ts", "src/ui/look.ts", "src/shop/roll.ts"] as const)
    application.write({ [name]: files[name].replace('"first"', `"${word}"`) });
  const { manifest } = await application.build({ revisions });
  return manifest.revision;
}

const repository = async (application: Application, config: object = {}) =>
  await start(application, { mode: "repository", url: anyPort, trustKey, ...config });

async function ask(
  { url }: Server,
  path: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<string> {
  const answer = await fetch(url + path, { headers });
  return `${answer.status} ${await answer.text()}`;
}

const module = async (server: Server, file: string, revision?: string): Promise<string> =>
  await ask(
    server,
    `/svc/modules/${file}${revision === undefined ? "" : `?revision=${revision}`}`,
    { "x-svc-trust-key": trustKey },
  );
const manifestOf = async (server: Server, revision: string): Promise<string> => {
  const answer = await ask(server, `/svc/manifest.json?revision=${revision}`);
  return (JSON.parse(answer.slice(4)) as { revision: string }).revision;
};

/** The file with the code that a page loads later. */
const laterFile = (application: Fixture, word: string): string => {
  const file = application
    .list("dist/browser")
    .find(
      (name) => name.endsWith(".js") && application.read(`dist/browser/${name}`).includes(word),
    );
  if (file === undefined) throw new Error(`no file has ${word}`);
  return `/${file}`;
};

describe("a build", () => {
  it("revisions-1: keeps the one before it: the files of browsers, both manifests, its contract, and those modules that it has changed", async () => {
    const application = applicationOf(files);
    const first = await build(application, "first");
    await build(application, "second");
    const earlier = `dist/server/earlier/${first}`;
    expect(application.list(earlier)).toEqual([
      "contract.json",
      "manifest.browser.json",
      "manifest.json",
      "modules/shop/roll.js",
      // Its source map has changed.
      "modules/ui/look.js",
      "modules/ui/look~body.js",
    ]);
    expect(application.read(`${earlier}/modules/shop/roll.js`)).toContain("first");
    expect(laterFile(application, "first")).not.toBe(laterFile(application, "second"));
    // The same build again, and what it keeps stays.
    await build(application, "second");
    expect(application.list(earlier)).toHaveLength(6);
    // An earlier build may be the next one: then it isn't kept twice.
    const again = await build(application, "first");
    expect(again).toBe(first);
    expect(application.list("dist/server/earlier").map((file) => file.split("/")[0])).not.toContain(
      first,
    );
  });

  it("revisions-2: keeps as many as --revisions or the configuration's 'revisions' says, one by default", async () => {
    const application = applicationOf(files);
    const revisions: string[] = [];
    for (const word of ["first", "second", "third", "fourth"])
      revisions.push(await build(application, word, 2));
    const kept = (): string[] =>
      [
        ...new Set(application.list("dist/server/earlier").map((file) => file.split("/")[0] ?? "")),
      ].toSorted();
    expect(kept()).toEqual(revisions.slice(1, 3).toSorted());
    for (const word of ["second", "third", "fourth"]) laterFile(application, word);
    expect(() => laterFile(application, "first")).toThrow("no file");
    await build(application, "fifth");
    expect(kept()).toEqual(revisions.slice(3));
    await build(application, "sixth", 0);
    expect(existsSync(application.path("dist/server/earlier"))).toBe(false);
    expect(() => laterFile(application, "fifth")).toThrow("no file");
  });

  it("a damaged list of kept builds is an error that names the file", async () => {
    const application = applicationOf(files);
    await build(application, "first");
    for (const text of [
      "{",
      "null",
      "[]",
      "[{}]",
      '[{"revision":"x","files":[]}]',
      '{"revisions":1,"builds":[{"revision":"../x","files":[]}]}',
    ]) {
      application.write({ "dist/server/kept.json": text });
      await expect(application.build(), text).rejects.toThrow(
        "dist/server/kept.json doesn't list the builds of this output: it is damaged. Remove it, and build again",
      );
    }
  });
});

describe("a repository or standalone", () => {
  it("goes on without earlier builds that were removed by hand, and so does the next build", async () => {
    const application = applicationOf(files);
    const first = await build(application, "first", 2);
    const second = await build(application, "second", 2);
    rmSync(application.path("dist/server/earlier"), { recursive: true });
    const server = await repository(application);
    expect(await manifestOf(server, first)).toBe(second);
    expect(await module(server, "shop/roll.js", first)).toMatch(/^404/);
    await build(application, "third", 2);
    expect(existsSync(application.path(`dist/server/earlier/${second}/manifest.json`))).toBe(true);
    expect(existsSync(application.path(`dist/server/earlier/${first}`))).toBe(false);
  });

  it("revisions-3: serves one earlier build: the files of its pages, its manifest by '?revision=', and its modules to those who have the trust key", async () => {
    const application = applicationOf(files);
    const first = await build(application, "first");
    const later = laterFile(application, "first");
    const second = await build(application, "second");
    for (const mode of ["repository", "standalone"]) {
      const server = await repository(application, { mode });
      expect(await ask(server, later)).toContain("first");
      expect([await manifestOf(server, first), await manifestOf(server, second)]).toEqual([
        first,
        second,
      ]);
      expect(await module(server, "shop/roll.js", first)).toContain("first");
      expect(await module(server, "shop/roll.js", second)).toContain("second");
      expect(await module(server, "shop/roll.js")).toContain("second");
      // Both builds have it, so it's stored once.
      expect(await module(server, "shop/cut.js", first)).toContain("200 ");
      expect(await ask(server, `/svc/modules/shop/roll.js?revision=${first}`)).toMatch(/^404/);
    }
  });

  it("revisions-4: a manifest of a build that isn't served is the current one, and its modules aren't found", async () => {
    const application = applicationOf(files);
    const first = await build(application, "first", 2);
    await build(application, "second", 2);
    const third = await build(application, "third", 2);
    const server = await repository(application);
    for (const revision of [first, "", "nothing", "constructor", "../../../package.json", "%2e%2e"])
      expect(await manifestOf(server, revision), revision).toBe(third);
    for (const revision of [first, "", "nothing", "__proto__", "..", "../../server"])
      expect(await module(server, "shop/roll.js", revision), revision).toMatch(/^404/);
    for (const file of [
      "%2e%2e%2fmanifest.json",
      "..%2f..%2fkept.json",
      "nothing.js",
      "constructor",
    ])
      expect(await module(server, file, third), file).toMatch(/^404/);
  });

  it("revisions-5: 'revisions' 0 ends all earlier builds at once, with whatever only they made public", async () => {
    const application = applicationOf(files);
    const first = await build(application, "first");
    const later = laterFile(application, "first");
    const second = await build(application, "second");
    const server = await repository(application, { revisions: 0 });
    expect(await ask(server, later)).toBe(await ask(server, "/assets/nothing.js"));
    expect(await ask(server, laterFile(application, "second"))).toContain("second");
    expect(await manifestOf(server, first)).toBe(second);
    expect(await module(server, "shop/roll.js", first)).toMatch(/^404/);
  });

  it("revisions-6: a service with a higher 'revisions' than its build keeps says at its start how to build", async () => {
    const application = applicationOf(files);
    await build(application, "first");
    expect((await repository(application, { revisions: 3 })).lines.join("\n")).not.toContain(
      "revisions",
    );
    await build(application, "second");
    const { lines } = await repository(application, { revisions: 3 });
    expect(lines).toContain(
      "warning: 'revisions' is 3, and the build in ./dist keeps 1. Run 'seamline build' with this configuration, or with --revisions 3",
    );
  });

  it("revisions-7: goes on with its own build while another one takes the place of its output", async () => {
    const application = applicationOf(files);
    const first = await build(application, "first");
    const server = await repository(application);
    await build(application, "second");
    expect(await module(server, "shop/roll.js", first)).toContain("first");
    expect(await module(server, "shop/roll.js")).toContain("first");
  });

  it("revisions-17: goes on with its own pages while another build takes the place of its output, and says so", async () => {
    const application = applicationOf(files);
    const first = await build(application, "first");
    const later = laterFile(application, "first");
    const server = await repository(application, { fallback: true });
    const page = await ask(server, "/");
    const tag = (await fetch(server.url)).headers.get("etag") ?? "";
    const second = await build(application, "second");
    expect(application.read("dist/browser/index.html")).not.toBe(page.slice(4));
    for (const path of ["/", "/index.html", "/index", "/deep/link"])
      expect(await ask(server, path, { accept: "text/html" }), path).toBe(page);
    expect(await ask(server, "/", { "if-none-match": tag })).toBe("304 ");
    expect(await ask(server, later)).toContain("first");
    expect(await manifestOf(server, first)).toBe(first);
    expect(await manifestOf(server, second)).toBe(first);
    expect(server.lines).toContain(
      `warning: the build in ./dist was replaced: this service goes on with revision ${first} until it is restarted`,
    );
  });

  it("revisions-18: whose output was replaced by one without its pages' files answers 503 for pages until it is restarted, and says why", async () => {
    const application = applicationOf(files);
    const first = await build(application, "first");
    const server = await repository(application);
    const page = await ask(server, "/");
    renameSync(application.path("dist"), application.path("away"));
    expect(await ask(server, "/")).toMatch(/^503 The files of this page are gone/);
    await build(application, "second");
    expect(await ask(server, "/")).toMatch(/^503 /);
    expect(server.lines.filter((line) => line.includes("was replaced"))).toEqual([
      `error: the build in ./dist was replaced by one without the files of revision ${first}: its pages are 503 until this service is restarted. Build where the last output is, so that it keeps them`,
    ]);
    renameSync(application.path("dist"), application.path("dist-of-image"));
    renameSync(application.path("away"), application.path("dist"));
    expect(await ask(server, "/")).toBe(page);
  });

  it("revisions-8: an output that was replaced whole, without what it kept, is served without it", async () => {
    const application = applicationOf(files);
    const first = await build(application, "first");
    renameSync(application.path("dist"), application.path("away"));
    const second = await build(application, "second");
    const server = await repository(application);
    expect(await manifestOf(server, first)).toBe(second);
    // In the place where the next build is made, the earlier output is enough.
    renameSync(application.path("dist"), application.path("dist-of-image"));
    renameSync(application.path("away"), application.path("dist"));
    await build(application, "second");
    expect(await manifestOf(await repository(application), first)).toBe(first);
  });
});
