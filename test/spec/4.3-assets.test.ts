import { mkdir, mkdtemp, realpath, rm, symlink, unlink, utimes, writeFile } from "node:fs/promises";
import { request as httpRequest } from "node:http";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { brotliDecompressSync, gunzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createPublicFiles, type PublicFiles } from "../../server/files.ts";
import { type HttpServer, listen } from "../../server/http.ts";

const long = "The quick brown fox. ".repeat(200);
const noise = Buffer.from(Array.from({ length: 3_000 }, (_, i) => (i * 7_919) % 251));

let root: string;
let files: PublicFiles;
let server: HttpServer;

async function put(path: string, content: string | Buffer): Promise<void> {
  await mkdir(dirname(join(root, path)), { recursive: true });
  await writeFile(join(root, path), content);
}

beforeAll(async () => {
  root = await realpath(await mkdtemp(join(tmpdir(), "seamline-assets-")));
  await put("outside.txt", "a secret of the application folder");
  await put("seamline.json", '{"trustKey":"secret-secret-secret"}');
  await put("src/index.html", "<p>as written");
  await put("src/assets/long.txt", long);
  await put("src/assets/data.json", JSON.stringify({ long }));
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
  files = await createPublicFiles({
    rootFolder: root,
    sourceFolder: join(root, "src"),
    browserFolder: join(root, "dist/browser"),
    assets: ["assets/**/*", "./.well-known/*", "!assets/taken/**", "shop/*", "./shop/worker.js", "shop/stock.js"],
    modules: ["shop/stock"],
    index: "index.html",
  });
  server = await listen(
    async (request) =>
      (await files.get(request.target.split("?")[0] ?? "", request)) ?? {
        status: 404,
        headers: { "content-type": "text/plain" },
        body: "Not found",
      },
    { host: "127.0.0.1", port: 0 },
  );
});
afterAll(async () => {
  await server.close(0);
  await rm(root, { recursive: true, force: true });
});

interface Answer {
  readonly status: number;
  readonly headers: Record<string, string | string[] | undefined>;
  readonly body: Buffer;
}

/** node:http sends the path as it is given, and decodes nothing. */
function ask(path: string, headers: Record<string, string> = {}, method = "GET"): Promise<Answer> {
  const { hostname, port } = new URL(server.url);
  return new Promise((resolve, reject) => {
    httpRequest({ hostname, port, path, method, headers }, (response) => {
      const chunks: Buffer[] = [];
      response.on("data", (chunk: Buffer) => chunks.push(chunk));
      response.on("end", () => resolve({ status: response.statusCode ?? 0, headers: response.headers, body: Buffer.concat(chunks) }));
    })
      .on("error", reject)
      .end();
  });
}

describe("§4.3 GET {repository_url}/{path}", () => {
  it.each([
    ["/assets/long.txt", "text/plain; charset=utf-8"],
    ["/assets/data.json", "application/json; charset=utf-8"],
    ["/assets/noise.png", "image/png"],
    ["/assets/deep/er/x%20y%20%C3%BC.txt", "text/plain; charset=utf-8"],
    ["/assets/empty.css", "text/css; charset=utf-8"],
    ["/about.html", "text/html; charset=utf-8"],
    ["/assets/player.js", "application/javascript; charset=utf-8"],
    ["/shop/worker.js", "application/javascript; charset=utf-8"],
    ["/.well-known/security.txt", "text/plain; charset=utf-8"],
  ])("returns the public file %s as %s", async (path, type) => {
    const answer = await ask(path);
    expect([answer.status, answer.headers["content-type"], answer.headers["x-content-type-options"]]).toEqual([200, type, "nosniff"]);
    expect(String(answer.body.length)).toBe(answer.headers["content-length"]);
  });

  it("returns the index, in its built form, where no file is named", async () => {
    expect((await ask("/")).body.toString()).toBe("<p>built");
    expect((await ask("/?from=mail")).body.toString()).toBe("<p>built");
    expect((await ask("/help/")).body.toString()).toBe("<p>help");
  });

  it.each([
    "/private/x.txt",
    "/index.htm",
    "/outside.txt",
    "/seamline.json",
    "/assets",
    "/assets/",
    "/assets/none.txt",
    "/assets/taken/away.txt",
    "/assets/code.ts",
    "/shop/stock.js",
    "/shop/helper.js",
    "/shop/card.vue",
    "/assets/shop.segment.json",
    "/assets/.env",
    "/assets/.hidden/x.txt",
    "/assets/link.txt",
    "/assets/folder/outside.txt",
    "/.vite/manifest.json",
    "/node_modules/p/x.txt",
    "/server/manifest.json",
    "/../server/manifest.json",
    "/..%2fserver%2fmanifest.json",
    "/assets/../../outside.txt",
    "/assets/%2e%2e/%2e%2e/outside.txt",
    "/assets/..%5c..%5coutside.txt",
    "/assets//long.txt",
    "//assets/long.txt",
    "/assets/long.txt/",
    "/assets/long.txt%00.png",
    "/%E0%A4%A",
    "/%",
    "/__proto__",
    "/constructor",
  ])("answers 404 for %s, byte for byte as for what doesn't exist", async (path) => {
    const [one, nothing] = await Promise.all([ask(path), ask("/nothing-here")]);
    delete one.headers["date"];
    delete nothing.headers["date"];
    expect(one).toEqual(nothing);
    expect(one.status).toBe(404);
  });

  it("takes GET and HEAD only, and says so for public files only", async () => {
    const answer = await ask("/assets/long.txt", {}, "POST");
    expect([answer.status, answer.headers["allow"]]).toEqual([405, "GET, HEAD"]);
    expect((await ask("/private/x.txt", {}, "POST")).status).toBe(404);
  });
});

describe("§4.3 HEAD", () => {
  it.each([{}, { "accept-encoding": "br" }, { range: "bytes=0-3" }])(
    "has the headers of GET and no body, asked with %j",
    async (headers) => {
      const [head, get] = await Promise.all([ask("/assets/long.txt", headers, "HEAD"), ask("/assets/long.txt", headers)]);
      delete head.headers["date"];
      delete get.headers["date"];
      expect([head.status, head.headers]).toEqual([get.status, get.headers]);
      expect(head.body.length).toBe(0);
    },
  );
});

describe("§4.3 conditions (decisions §5, assets)", () => {
  it("answers 304 to the ETag that was given, in every coding", async () => {
    for (const coding of ["identity", "gzip", "br"]) {
      const { headers } = await ask("/assets/long.txt", { "accept-encoding": coding });
      const again = await ask("/assets/long.txt", { "accept-encoding": coding, "if-none-match": headers["etag"] as string });
      expect([again.status, again.body.length, again.headers["etag"]]).toEqual([304, 0, headers["etag"]]);
      expect(again.headers).toMatchObject({ vary: "accept-encoding", "x-content-type-options": "nosniff" });
    }
  });

  it("sends the new content when the file has changed, compressed too", async () => {
    await put("src/assets/changing.txt", `one ${long}`);
    await files.refresh();
    const { headers } = await ask("/assets/changing.txt", { "accept-encoding": "gzip" });
    await put("src/assets/changing.txt", `two ${long}`);
    await utimes(join(root, "src/assets/changing.txt"), 1, 1);
    const again = await ask("/assets/changing.txt", { "accept-encoding": "gzip", "if-none-match": headers["etag"] as string });
    expect(gunzipSync(again.body).toString()).toBe(`two ${long}`);
  });

  it("answers 412 when a condition fails", async () => {
    const answer = await ask("/assets/long.txt", { "if-match": '"other"' });
    expect([answer.status, answer.headers["x-content-type-options"]]).toEqual([412, "nosniff"]);
  });
});

describe("§4.3 ranges", () => {
  it("sends the part that is asked for, never compressed", async () => {
    const answer = await ask("/assets/long.txt", { range: "bytes=4-8", "accept-encoding": "br" });
    expect([answer.status, answer.body.toString(), answer.headers["content-range"]]).toEqual([206, "quick", `bytes 4-8/${long.length}`]);
    expect(answer.headers["content-encoding"]).toBeUndefined();
  });

  it("answers 416 to a part that isn't there, as text and with the length", async () => {
    const answer = await ask("/assets/long.txt", { range: "bytes=90000-" });
    expect([answer.status, answer.headers["content-range"], answer.headers["content-type"]]).toEqual([
      416,
      `bytes */${long.length}`,
      "text/plain; charset=utf-8",
    ]);
  });
});

describe("§4.3 compression", () => {
  it.each([
    ["br, gzip", "br", brotliDecompressSync],
    ["gzip", "gzip", gunzipSync],
    ["br;q=0, gzip;q=0.5", "gzip", gunzipSync],
    ["BR", "br", brotliDecompressSync],
  ])("for accept-encoding %s is %s", async (accepted, coding, unpack) => {
    const answer = await ask("/assets/long.txt", { "accept-encoding": accepted });
    expect(answer.headers).toMatchObject({
      "content-encoding": coding,
      vary: "accept-encoding",
      "content-length": String(answer.body.length),
    });
    expect(answer.body.length).toBeLessThan(long.length / 4);
    expect(unpack(answer.body).toString()).toBe(long);
  });

  it.each(["deflate", "identity", "gzip;q=0", ""])("is none for accept-encoding '%s'", async (accepted) => {
    const answer = await ask("/assets/long.txt", { "accept-encoding": accepted });
    expect(answer.headers["content-encoding"]).toBeUndefined();
    expect(answer.body.toString()).toBe(long);
  });

  it("is none for what is compressed already, and for little", async () => {
    for (const path of ["/assets/noise.png", "/assets/empty.css", "/about.html"])
      expect((await ask(path, { "accept-encoding": "br" })).headers["content-encoding"]).toBeUndefined();
  });

  it("gives many who ask at once the same bytes", async () => {
    const answers = await Promise.all(Array.from({ length: 20 }, () => ask("/assets/data.json", { "accept-encoding": "br" })));
    expect(new Set(answers.map((one) => one.body.toString("base64"))).size).toBe(1);
  });
});

describe("§4.3 caching", () => {
  it("keeps hashed build files for a year, and asks again for all others", async () => {
    expect((await ask("/assets/app-4fKx_92Q.js")).headers["cache-control"]).toBe("public, max-age=31536000, immutable");
    for (const path of ["/", "/assets/long.txt", "/assets/my-document.txt", "/holidays-Summer24.txt"])
      expect((await ask(path)).headers["cache-control"]).toBe("no-cache");
  });
});

describe("§4.3 the map of public files", () => {
  it("is made before the requests: a file that comes later is public after refresh", async () => {
    await put("src/assets/later.txt", "later");
    expect((await ask("/assets/later.txt")).status).toBe(404);
    await files.refresh();
    expect((await ask("/assets/later.txt")).body.toString()).toBe("later");
  });

  it("answers 404 for a file that is gone, and for one whose place a link has taken", async () => {
    await put("src/assets/gone.txt", "here");
    await files.refresh();
    await unlink(join(root, "src/assets/gone.txt"));
    expect((await ask("/assets/gone.txt")).status).toBe(404);
    await symlink(join(root, "outside.txt"), join(root, "src/assets/gone.txt"));
    expect((await ask("/assets/gone.txt")).status).toBe(404);
  });

  it("serves no asset without globs, and the index even so", async () => {
    const bare = await createPublicFiles({
      rootFolder: root,
      sourceFolder: join(root, "src"),
      browserFolder: undefined,
      assets: [],
      index: "./index.html",
    });
    expect([...bare.paths()]).toEqual(["/"]);
  });

  it("never holds build output, configuration or the trust key, whatever the globs say", async () => {
    await put(".seamline/key", "secret-secret-secret");
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

  it("never leaves the application folder, by the index either", async () => {
    const inner = join(root, "src");
    const options = { rootFolder: inner, sourceFolder: inner, browserFolder: undefined, assets: [] };
    expect([...(await createPublicFiles({ ...options, index: "../outside.txt" })).paths()]).toEqual([]);
    expect([...(await createPublicFiles({ ...options, index: "assets/link.txt" })).paths()]).toEqual([]);
    await expect(createPublicFiles({ ...options, sourceFolder: root, assets: ["*"], index: "x" })).rejects.toThrow(
      "outside of the application folder",
    );
  });
});
