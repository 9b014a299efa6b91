import { mkdirSync, renameSync, rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";

import { describe, expect, it } from "vitest";

import { buildApplication } from "../../server/build/build.ts";
import { checkApplication } from "../../server/build/check.ts";
import { isStale } from "../../server/sources.ts";
import { createApplication, develop, eventually, type Running, shop } from "./_session.ts";

/** Calls and pages are answered, and an edit arrives. */
async function works(
  { get, text, edit, told, events, logged }: Running,
  quoteFile = "src/shop/quote.ts",
): Promise<void> {
  expect(logged).toEqual([]);
  expect(events.filter(({ kind }) => kind === "problems" || kind === "warning")).toEqual([]);
  expect(await get("/rpc/shop/worth?sku=abc")).toEqual({ status: 200, value: 180 });
  const page = await text("/");
  const main = /<script type="module" src="([^"]*main\.ts[^"]*)"/.exec(page)?.[1] ?? "none";
  const code = await text(main);
  const [, quote = "none"] = /from "([^"]*quote\.ts[^"]*)"/.exec(code) ?? [];
  // The face, which has no body in it.
  const face = await text(quote);
  expect(face).toContain("seam");
  expect(face).not.toContain("margin");
  const manifest = JSON.parse(await text("/svc/manifest.json")) as {
    modules: Record<string, { file: string; body?: string }>;
  };
  const { body = "none" } = manifest.modules["ui/filter"] ?? {};
  expect(await text(`/${body}`)).toContain("filter");
  edit(quoteFile, "* margin * metres", "* margin * metres + 1");
  await told("replaced");
  expect(
    await eventually(
      async () => (await get("/rpc/shop/worth?sku=abc")).value,
      (value) => value === 183,
    ),
  ).toBe(183);
}

describe("an application folder", () => {
  it("is named by a link to it", async () => {
    const at = (root: string): string => {
      symlinkSync(root, `${root}-link`);
      return `${root}-link`;
    };
    await works(await develop(shop, { at }));
  });

  it("has a source folder that is a link to another folder of it", async () => {
    const at = (root: string): string => {
      mkdirSync(join(root, "code"));
      renameSync(join(root, "src"), join(root, "code/main"));
      symlinkSync(join(root, "code/main"), join(root, "src"));
      return root;
    };
    await works(await develop(shop, { at }), "code/main/shop/quote.ts");
  });

  it("is built and checked by a link to it, with a source folder that is one", async () => {
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

  it("has a name with spaces, and with what means something in an address or a pattern", async () => {
    await works(await develop(shop, { name: "50% [off] {a,b} (c) \u00fc'&+%20" }));
  });

  it.each(["what?", "C#"])(
    "named %s is refused by what needs Vite: pages would get the sources of servers there",
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

  it("has a source folder that leads out of it: that is told, with what to do", async () => {
    const { told, session } = await develop(shop, {
      at(root) {
        const outside = createApplication({ "one.ts": "export {};\n" }).root;
        rmSync(join(root, "src"), { recursive: true });
        symlinkSync(outside, join(root, "src"));
        return root;
      },
    });
    const { problems } = await told("problems");
    expect(problems.map(({ message, hint }) => `${message}\n${hint}`).join("\n")).toMatch(
      /leads here, and only what lies in the application folder is read.*\nMove the sources into the application folder/,
    );
    expect(session.nodes()).toEqual([]);
  });
});
