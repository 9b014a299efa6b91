import { mkdirSync, renameSync, rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";

import { describe, expect, it } from "vitest";

import { buildApplication } from "../../server/vite/build.ts";
import { checkApplication } from "../../server/report/check.ts";
import { isStale } from "../../server/files/sources.ts";
import { createApplication, develop, eventually, type Running, shop } from "./_session.ts";

/** Checks that calls and pages are answered and that an edit is live. */
async function works(
  { get, text, edit, nextEvent, events, logged }: Running,
  quoteFile = "src/shop/quote.ts",
): Promise<void> {
  expect(logged).toEqual([]);
  expect(events.filter(({ kind }) => kind === "problems" || kind === "warning")).toEqual([]);
  expect(await get("/rpc/shop/worth?sku=abc")).toEqual({ status: 200, value: 180 });
  const page = await text("/");
  const main = /<script type="module" src="([^"]*main\.ts[^"]*)"/.exec(page)?.[1] ?? "none";
  const code = await text(main);
  const [, quote = "none"] = /from "([^"]*quote\.ts[^"]*)"/.exec(code) ?? [];
  // The face, without the body.
  const face = await text(quote);
  expect(face).toContain("seam");
  expect(face).not.toContain("margin");
  const manifest = JSON.parse(await text("/svc/manifest.json")) as {
    modules: Record<string, { file: string; body?: string }>;
  };
  const { body = "none" } = manifest.modules["ui/filter"] ?? {};
  expect(await text(`/${body}`)).toContain("filter");
  edit(quoteFile, "* margin * metres", "* margin * metres + 1");
  await nextEvent("replaced");
  expect(
    await eventually(
      async () => (await get("/rpc/shop/worth?sku=abc")).value,
      (value) => value === 183,
    ),
  ).toBe(183);
}

describe("an application folder", () => {
  it("an application folder may be named by a link", async () => {
    const at = (root: string): string => {
      symlinkSync(root, `${root}-link`);
      return `${root}-link`;
    };
    await works(await develop(shop, { at }));
  });

  it("the source folder may be a link to another folder of the application", async () => {
    const at = (root: string): string => {
      mkdirSync(join(root, "code"));
      renameSync(join(root, "src"), join(root, "code/main"));
      symlinkSync(join(root, "code/main"), join(root, "src"));
      return root;
    };
    await works(await develop(shop, { at }), "code/main/shop/quote.ts");
  });

  it("an application behind a link, with a linked source folder, is built and checked", async () => {
    const { root } = createApplication(shop);
    mkdirSync(join(root, "code"));
    renameSync(join(root, "src"), join(root, "code/main"));
    symlinkSync(join(root, "code/main"), join(root, "src"));
    symlinkSync(root, `${root}-link`);
    const log = { info: () => {}, warn: () => {}, error: () => {} };
    const checked = await checkApplication({ root: `${root}-link`, log, env: {} });
    expect([checked.problems, checked.warnings, checked.procedures]).toEqual([[], [], 5]);
    const { manifest } = await buildApplication({ root: `${root}-link`, log });
    expect(Object.keys(manifest.modules)).toContain("shop/quote");
    expect(await isStale(`${root}-link`, "./src", "dist", manifest)).toBe(false);
  });

  it("an application folder's name may have spaces, and special characters of URLs and patterns", async () => {
    await works(await develop(shop, { name: "50% [off] {a,b} (c) \u00fc'&+%20" }));
  });

  it.each(["what?", "C#"])(
    "a folder named %s is refused, because Vite would serve the sources of servers there",
    async (name) => {
      const message = `Vite can't read modules from a folder with "${name.slice(-1)}" in its path`;
      await expect(develop(shop, { name })).rejects.toThrow(message);
      const { root } = createApplication(shop, name);
      const log = { info: () => {}, warn: () => {}, error: () => {} };
      await expect(buildApplication({ root, log })).rejects.toThrow(message);
      const { problems } = await checkApplication({ root, log, env: {} });
      expect(problems).toEqual([
        expect.objectContaining({ file: root, message: expect.stringContaining(message) }),
      ]);
    },
  );

  it.each([
    ["src/c#", "src/c#/one.ts", "#", "Rename the folder."],
    ["src/a/what?", "src/a/what?/b/one.ts", "?", "Rename the folder."],
    ["src/a/one#.ts", "src/a/one#.ts", "#", "Rename the file."],
  ])(
    "%s in the sources is refused in development, by a build and by a check",
    async (file, module, character, hint) => {
      const files = { ...shop, [module]: "export const one: number = 1;\n" };
      const expected = [
        {
          file,
          message: `Vite can't read modules with "${character}" in their path: it reads that as the end of a file name`,
          hint,
        },
      ];
      const { nextEvent } = await develop(files);
      expect((await nextEvent("problems")).problems).toEqual(expected);
      const { root } = createApplication(files);
      const log = { info: () => {}, warn: () => {}, error: () => {} };
      const built = buildApplication({ root, log });
      await expect(built).rejects.toMatchObject({ problems: expected });
      expect((await checkApplication({ root, log, env: {} })).problems).toEqual(expected);
    },
  );

  it("a source folder outside the application folder is a problem with a hint", async () => {
    const { nextEvent, session } = await develop(shop, {
      at(root) {
        const outside = createApplication({ "one.ts": "export {};\n" }).root;
        rmSync(join(root, "src"), { recursive: true });
        symlinkSync(outside, join(root, "src"));
        return root;
      },
    });
    const { problems } = await nextEvent("problems");
    expect(problems.map(({ message, hint }) => `${message}\n${hint}`).join("\n")).toMatch(
      /is here, but only files in the application folder are read.*\nMove the sources into the application folder/,
    );
    expect(session.nodes()).toEqual([]);
  });
});
