// An application folder with public and private files of every kind, and a server for them.

import { mkdir, mkdtemp, realpath, rm, symlink, writeFile } from "node:fs/promises";
import { request as httpRequest } from "node:http";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

import { createPublicFiles, type PublicFiles } from "../../server/files/files.ts";
import { listen } from "../../server/http/http.ts";
import { notFound } from "../../src/http/answers.ts";
import { pathOf } from "../../src/http/router.ts";

export const long: string = "The quick brown fox. ".repeat(200);
/** Text that packs neither very well nor badly. */
const prose = Array.from({ length: 4_000 }, (_, i) => ((i * 7_919) % 251).toString(36)).join(" ");
const noise = Buffer.from(Array.from({ length: 3_000 }, (_, i) => (i * 7_919) % 251));

export interface Answer {
  readonly status: number;
  readonly headers: Record<string, string | string[] | undefined>;
  readonly body: Buffer;
}

export interface Assets {
  readonly root: string;
  readonly files: PublicFiles;
  put(path: string, content: string | Buffer): Promise<void>;
  /** Sends a request with exactly this path: nothing is decoded or normalised. */
  ask(path: string, headers?: Readonly<Record<string, string>>, method?: string): Promise<Answer>;
  close(): Promise<void>;
}

/**
 * `assets/**` is public, a folder in it is not; some scripts are named; the build wrote a page and
 * a hashed file.
 */
export async function serveAssets(): Promise<Assets> {
  const root = await realpath(await mkdtemp(join(tmpdir(), "seamline-assets-")));
  const put = async (path: string, content: string | Buffer): Promise<void> => {
    await mkdir(dirname(join(root, path)), { recursive: true });
    await writeFile(join(root, path), content);
  };
  await put("outside.txt", "a secret of the application folder");
  await put("seamline.json", '{"trustKey":"secret-secret-secret"}');
  await put("src/index.html", "<p>as written");
  await put("src/assets/long.txt", long);
  await put("src/assets/data.json", JSON.stringify({ long }));
  await put("src/assets/prose.txt", prose);
  await put("src/assets/noise.png", noise);
  await put("src/assets/deep/er/x y ü.txt", "deep");
  await put("src/assets/empty.css", "");
  await put("src/assets/code.ts", "export const secret = 1;");
  await put("src/assets/player.js", "console.log(1);");
  await put("src/shop/stock.js", "export const secret = 1;");
  await put("src/shop/helper.js", "export const secret = 1;");
  await put("src/shop/worker.js", "console.log(2);");
  await put("src/shop/card.vue", "<template></template>");
  await put("src/assets/shop.segment.json", "{}");
  await put("src/assets/.env", "SECRET=1");
  await put("src/assets/.hidden/x.txt", "hidden");
  await put("src/assets/taken/away.txt", "away");
  await put("src/.well-known/security.txt", "Contact: us");
  await put("src/private/x.txt", "private");
  await put("src/node_modules/p/x.txt", "package");
  await put("dist/browser/index.html", "<p>built");
  await put("dist/browser/about.html", "<p>about");
  await put("dist/browser/help/index.html", "<p>help");
  await put("dist/browser/assets/app-4fKx_92Q.js", `console.log("built");//${long}`);
  await put("dist/browser/assets/my-document.txt", "a name with eight letters");
  await put("public/holidays-Summer24.txt", "copied by Vite");
  await put("dist/browser/holidays-Summer24.txt", "copied by Vite");
  await put("dist/browser/.vite/manifest.json", "{}");
  await put("dist/server/manifest.json", "{}");
  await symlink(join(root, "outside.txt"), join(root, "src/assets/link.txt"));
  await symlink(root, join(root, "src/assets/folder"));
  await put("src/robots.txt", "User-agent: *");
  await put("src/plain.html", "<p>an asset");
  await put("src/assets/module.mjs", "export {};");
  await put("src/assets/old.cjs", "module.exports = 1;");
  await put("src/assets/mark.svg", `<svg>${long}</svg>`);
  await put("src/assets/unknown.zzz", "bytes");
  await put("src/assets/app.webmanifest", "{}");
  await put("src/assets/code.wasm", Buffer.from([0, 97, 115, 109]));
  await put("src/assets/component.jsx", "secret");
  await put("src/assets/CODE.TS", "secret");
  const files = await createPublicFiles({
    rootFolder: root,
    sourceFolder: join(root, "src"),
    browserFolder: join(root, "dist/browser"),
    assets: [
      "assets/**/*",
      "./.well-known/*",
      "!assets/taken/**",
      "shop/*",
      "./shop/worker.js",
      "shop/stock.js",
      "robots.txt",
      "plain.html",
    ],
    modules: ["shop/stock"],
    index: "index.html",
  });
  const server = await listen(
    async (request) => (await files.get(pathOf(request.target), request)) ?? notFound(),
    {
      host: "127.0.0.1",
      port: 0,
    },
  );
  const { hostname, port } = new URL(server.url);
  return {
    root,
    files,
    put,
    ask: (path, headers = {}, method = "GET") =>
      new Promise((resolve, reject) => {
        httpRequest({ hostname, port, path, method, headers }, (response) => {
          const chunks: Buffer[] = [];
          response.on("data", (chunk: Buffer) => chunks.push(chunk));
          response.on("end", () =>
            resolve({
              status: response.statusCode ?? 0,
              headers: response.headers,
              body: Buffer.concat(chunks),
            }),
          );
        })
          .on("error", reject)
          .end();
      }),
    async close() {
      await server.close(0);
      await rm(root, { recursive: true, force: true });
    },
  };
}
