import { symlink, unlink } from "node:fs/promises";
import { join } from "node:path";

import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { createPublicFiles } from "../../server/files.ts";
import { type Answer, type Assets, serveAssets } from "./_assets.ts";

let assets: Assets;
beforeAll(async () => {
  assets = await serveAssets();
});
afterAll(() => assets.close());

/** All that a caller can see, but for the time. */
const seen = ({ status, headers, body }: Answer): unknown => {
  const { date: _, ...others } = headers;
  return [status, others, body.toString()];
};

/** Refused, by GET and HEAD and with conditions, exactly as what was never there. */
async function expectNothing(path: string): Promise<void> {
  for (const [method, headers] of [
    ["GET", {}],
    ["HEAD", {}],
    ["POST", {}],
    ["GET", { range: "bytes=0-1", "if-none-match": "*", "accept-encoding": "br" }],
  ] as const) {
    const [one, nothing] = await Promise.all([
      assets.ask(path, headers, method),
      assets.ask("/nothing-here", headers, method),
    ]);
    expect(seen(one), `${method} ${path}`).toEqual(seen(nothing));
    expect(one.status).toBe(404);
  }
}

describe("what is not public", () => {
  it.each([
    "/private/x.txt",
    "/outside.txt",
    "/seamline.json",
    "/index.htm",
    "/assets/taken/away.txt",
  ])("D5.assets-1 a file that no glob makes public is 404: %s", async (path) => {
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
    "D5.assets-2 the answer for a file that is not public is byte for byte the one for what doesn't exist: %s",
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
  ])("D5.assets-3 no path leads out of the application folder: %s", async (path) => {
    await expectNothing(path);
  });

  it("a slash that is written %2F is no part of a path, also where the file is public (D5.assets-3)", async () => {
    expect((await assets.ask("/assets/deep/er/x%20y%20%C3%BC.txt")).status).toBe(200);
    for (const path of [
      "/assets%2flong.txt",
      "/assets/deep%2Fer/x%20y%20%C3%BC.txt",
      "/%2Fassets/long.txt",
      "/assets%5Clong.txt",
    ])
      await expectNothing(path);
  });

  it("neither do the index nor the source folder of a configuration (D5.assets-3)", async () => {
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
    "D5.assets-4 nothing is reached by a symbolic link, neither a file nor a folder: %s",
    async (path) => {
      await expectNothing(path);
    },
  );

  it("neither is the index, nor a public file whose place a link takes later (D5.assets-4)", async () => {
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

  it("D5.assets-5 a dot file is public only by a glob that names the dot", async () => {
    for (const path of ["/assets/.env", "/assets/.hidden/x.txt", "/.vite/manifest.json"])
      await expectNothing(path);
    expect((await assets.ask("/.well-known/security.txt")).body.toString()).toBe("Contact: us");
  });

  it("D5.assets-11 a segment file is no asset, whatever the globs say", async () => {
    await expectNothing("/assets/shop.segment.json");
  });

  it.each([
    "/assets/code.ts",
    "/assets/CODE.TS",
    "/assets/component.jsx",
    "/shop/stock.js",
    "/shop/helper.js",
    "/shop/card.vue",
  ])("D5.assets-12 a source is no asset, whatever the globs say: %s", async (path) => {
    await expectNothing(path);
  });

  it("nor are the build's output, the configuration and the trust key (D5.assets-12)", async () => {
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
    expect(paths.filter((one) => /dist|seamline|node_modules|\.env/.test(one))).toEqual([]);
  });
});
