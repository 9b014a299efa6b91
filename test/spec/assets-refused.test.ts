import { symlink, unlink } from "node:fs/promises";
import { join } from "node:path";

import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { createPublicFiles } from "../../server/files/files.ts";
import { type Answer, type Assets, serveAssets } from "./_assets.ts";

let assets: Assets;
beforeAll(async () => {
  assets = await serveAssets();
});
afterAll(() => assets.close());

/** Everything that a caller can see except the date. */
const visibleParts = ({ status, headers, body }: Answer): unknown => {
  const { date: _, ...otherHeaders } = headers;
  return [status, otherHeaders, body.toString()];
};

/** Expects the same answer as for a file that never existed, by GET, HEAD and with conditions. */
async function expectNothing(path: string): Promise<void> {
  for (const [method, headers] of [
    ["GET", {}],
    ["HEAD", {}],
    ["POST", {}],
    ["GET", { range: "bytes=0-1", "if-none-match": "*", "accept-encoding": "br" }],
  ] as const) {
    const [answer, nothing] = await Promise.all([
      assets.ask(path, headers, method),
      assets.ask("/nothing-here", headers, method),
    ]);
    expect(visibleParts(answer), `${method} ${path}`).toEqual(visibleParts(nothing));
    expect(answer.status).toBe(404);
  }
}

describe("what is not public", () => {
  it.each([
    "/private/x.txt",
    "/outside.txt",
    "/seamline.json",
    "/index.htm",
    "/assets/taken/away.txt",
  ])("assets-6: a file that no glob makes public is 404: %s", async (path) => {
    expect((await assets.ask(path)).status).toBe(404);
  });

  it.each([
    "/private/x.txt",
    "/assets",
    "/assets/",
    "/assets/taken/away.txt",
    "/node_modules/p/x.txt",
    "/server/manifest.json",
    "/assets//long.txt",
    "//assets/long.txt",
    "/assets/long.txt/",
    "/__proto__",
    "/constructor",
  ])(
    "assets-7: a file that is not public and one that doesn't exist get the same answer, byte for byte: %s",
    async (path) => {
      await expectNothing(path);
    },
  );

  it.each([
    "/../server/manifest.json",
    "/..%2fserver%2fmanifest.json",
    "/assets/../../outside.txt",
    "/assets/%2e%2e/%2e%2e/outside.txt",
    "/assets/..%5c..%5coutside.txt",
    "/assets/%252e%252e/outside.txt",
    "/assets/long.txt%00.png",
    "/assets/%00",
    "/%E0%A4%A",
    "/%",
    "/assets/%c0%ae%c0%ae/outside.txt",
    "/etc/passwd",
    "//etc/passwd",
    "/file:///etc/passwd",
  ])("assets-8: no path leads out of the application folder: %s", async (path) => {
    await expectNothing(path);
  });

  it("an encoded slash (%2F) doesn't separate folders, even if the file is public (assets-8)", async () => {
    expect((await assets.ask("/assets/deep/er/x%20y%20%C3%BC.txt")).status).toBe(200);
    for (const path of [
      "/assets%2flong.txt",
      "/assets/deep%2Fer/x%20y%20%C3%BC.txt",
      "/%2Fassets/long.txt",
      "/assets%5Clong.txt",
    ])
      await expectNothing(path);
  });

  it("a configured index or source folder outside the application folder makes nothing public (assets-8)", async () => {
    const inner = join(assets.root, "src");
    const options = {
      rootFolder: inner,
      sourceFolder: inner,
      browserFolder: undefined,
      assets: [],
    };
    expect([...(await createPublicFiles({ ...options, index: "../outside.txt" })).paths()]).toEqual(
      [],
    );
    await expect(
      createPublicFiles({ ...options, sourceFolder: assets.root, assets: ["*"], index: "x" }),
    ).rejects.toThrow("outside of the application folder");
  });

  it.each(["/assets/link.txt", "/assets/folder/outside.txt", "/assets/folder/src/assets/long.txt"])(
    "assets-9: symbolic links to files or folders are not followed: %s",
    async (path) => {
      await expectNothing(path);
    },
  );

  it("a symbolic link is not followed in place of the index, or of a public file that it replaces later (assets-9)", async () => {
    const inner = join(assets.root, "src");
    const options = {
      rootFolder: inner,
      sourceFolder: inner,
      browserFolder: undefined,
      assets: [],
    };
    expect([
      ...(await createPublicFiles({ ...options, index: "assets/link.txt" })).paths(),
    ]).toEqual([]);
    await assets.put("src/assets/gone.txt", "here");
    await assets.files.refresh();
    expect((await assets.ask("/assets/gone.txt")).status).toBe(200);
    await unlink(join(assets.root, "src/assets/gone.txt"));
    await expectNothing("/assets/gone.txt");
    await symlink(join(assets.root, "outside.txt"), join(assets.root, "src/assets/gone.txt"));
    await expectNothing("/assets/gone.txt");
  });

  it("assets-10: a dot file is public only by a glob that names the dot", async () => {
    for (const path of ["/assets/.env", "/assets/.hidden/x.txt", "/.vite/manifest.json"])
      await expectNothing(path);
    expect((await assets.ask("/.well-known/security.txt")).body.toString()).toBe("Contact: us");
  });

  it("assets-16: a segment file is never public, whatever the globs say", async () => {
    await expectNothing("/assets/shop.segment.json");
  });

  it.each([
    "/assets/code.ts",
    "/assets/CODE.TS",
    "/assets/component.jsx",
    "/shop/stock.js",
    "/shop/helper.js",
    "/shop/card.vue",
  ])("assets-17: a source is no asset, whatever the globs say: %s", async (path) => {
    await expectNothing(path);
  });

  it("the build's output, the configuration and the trust key are never public (assets-17)", async () => {
    await assets.put(".seamline/key", "secret-secret-secret");
    const { root } = assets;
    const open = await createPublicFiles({
      rootFolder: root,
      sourceFolder: root,
      browserFolder: join(root, "dist/browser"),
      assets: ["**/*"],
      index: "index.html",
      except: [join(root, "dist"), join(root, "seamline.json")],
    });
    const paths = [...open.paths()];
    expect(paths).toContain("/outside.txt");
    expect(paths.filter((path) => /dist|seamline|node_modules|\.env/.test(path))).toEqual([]);
  });
});
