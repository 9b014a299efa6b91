import { utimes } from "node:fs/promises";
import { join } from "node:path";
import { brotliDecompressSync, gunzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";

import { createPublicFiles } from "../../server/files/files.ts";
import { type Answer, type Assets, long, serveAssets } from "./_assets.ts";
import { chunksOf } from "../../src/http/bodies.ts";

let assets: Assets;
beforeAll(async () => {
  assets = await serveAssets();
});
afterAll(() => assets.close());
const ask: Assets["ask"] = (...request) => assets.ask(...request);

describe("GET {repository_url}/{path}", () => {
  it("assets-1: a GET to the repository returns the file of the application folder that the path names", async () => {
    const answer = await ask("/assets/deep/er/x%20y%20%C3%BC.txt");
    expect([answer.status, answer.body.toString()]).toEqual([200, "deep"]);
    expect((await ask("/assets/long.txt?version=1")).body.toString()).toBe(long);
  });

  it("assets-2: files in the root of the source folder can be fetched as well", async () => {
    expect((await ask("/robots.txt")).body.toString()).toBe("User-agent: *");
    expect((await ask("/plain.html")).body.toString()).toBe("<p>an asset");
  });

  it("assets-3: a GET without a file name returns the configured index file", async () => {
    expect((await ask("/")).body.toString()).toBe("<p>built");
    expect((await ask("/?from=mail")).body.toString()).toBe("<p>built");
    const { root } = assets;
    const withAbout = await createPublicFiles({
      rootFolder: root,
      sourceFolder: join(root, "src"),
      browserFolder: join(root, "dist/browser"),
      assets: [],
      index: "about.html",
    });
    const request = {
      method: "HEAD",
      target: "/",
      scheme: "http" as const,
      headers: {},
      body: chunksOf(),
      readBody: async () => new Uint8Array(),
      signal: new AbortController().signal,
    };
    expect((await withAbout.get("/", request))?.headers["content-length"]).toBe(
      String("<p>about".length),
    );
  });

  it("globs for assets that match no file are found at start", async () => {
    const files = await createPublicFiles({
      rootFolder: assets.root,
      sourceFolder: join(assets.root, "src"),
      browserFolder: undefined,
      assets: ["./assets/*", "src/assets/*", "/robots.txt", "!private/**", "*.txt"],
      index: "index.html",
    });
    expect(files.idle).toEqual(["src/assets/*", "/robots.txt"]);
  });

  it("assets-4: all assets are private by default", async () => {
    const bare = await createPublicFiles({
      rootFolder: assets.root,
      sourceFolder: join(assets.root, "src"),
      browserFolder: undefined,
      assets: [],
      index: "./index.html",
    });
    expect([...bare.paths()]).toEqual([]);
    expect((await ask("/private/x.txt")).status).toBe(404);
  });

  it("assets-5: a glob makes assets public, also those in folders below", async () => {
    const public_ = [...assets.files.paths()].filter((path) => path.startsWith("/assets/"));
    expect(public_).toEqual(
      expect.arrayContaining(["/assets/long.txt", "/assets/deep/er/x y ü.txt"]),
    );
    expect(public_).not.toContain("/assets/taken/away.txt");
  });

  it("a public file answers 405 to methods other than GET and HEAD, and any other file 404 (assets-1)", async () => {
    for (const method of ["POST", "PUT", "DELETE", "OPTIONS"]) {
      const answer = await ask("/assets/long.txt", {}, method);
      expect([answer.status, answer.headers["allow"]], method).toEqual([405, "GET, HEAD"]);
      expect((await ask("/private/x.txt", {}, method)).status).toBe(404);
    }
  });

  it.each([{}, { "accept-encoding": "br" }])(
    "HEAD for a file has the headers of GET and no body, with request headers %j (assets-1)",
    async (headers) => {
      const [head, get] = await Promise.all([
        ask("/assets/long.txt", headers, "HEAD"),
        ask("/assets/long.txt", headers),
      ]);
      delete head.headers["date"];
      delete get.headers["date"];
      expect([head.status, head.headers]).toEqual([get.status, get.headers]);
      expect(head.body.length).toBe(0);
    },
  );

  it("HEAD for a file ignores ranges, which are for GET only (assets-1)", async () => {
    for (const range of ["bytes=0-3", "bytes=90000-"]) {
      const answer = await ask("/assets/long.txt", { range }, "HEAD");
      expect([answer.status, answer.headers["content-length"]], range).toEqual([
        200,
        String(long.length),
      ]);
      expect(answer.headers["content-range"]).toBeUndefined();
    }
  });

  it("public files are listed before the first request: a new file is public after a refresh (assets-5)", async () => {
    await assets.put("src/assets/later.txt", "later");
    expect((await ask("/assets/later.txt")).status).toBe(404);
    await assets.files.refresh();
    expect((await ask("/assets/later.txt")).body.toString()).toBe("later");
  });
});

const tagOf = async (path: string): Promise<string> => String((await ask(path)).headers["etag"]);

describe("conditions", () => {
  it("assets-11: a file has an ETag, which changes with its content", async () => {
    await assets.put("src/assets/changing.txt", `one ${long}`);
    await assets.files.refresh();
    const first = await tagOf("/assets/changing.txt");
    expect(first).toMatch(/^(?:W\/)?"[^"]+"$/);
    expect(await tagOf("/assets/changing.txt")).toBe(first);
    await assets.put("src/assets/changing.txt", `two ${long}`);
    await utimes(join(assets.root, "src/assets/changing.txt"), 1, 1);
    const again = await ask("/assets/changing.txt", {
      "accept-encoding": "gzip",
      "if-none-match": first,
    });
    expect([again.status, gunzipSync(again.body).toString()]).toEqual([200, `two ${long}`]);
    expect(again.headers["etag"]).not.toBe(first);
  });

  it("assets-12: a request with the current ETag answers 304 without a body, in every coding", async () => {
    for (const coding of ["identity", "gzip", "br"]) {
      const { headers } = await ask("/assets/long.txt", { "accept-encoding": coding });
      const again = await ask("/assets/long.txt", {
        "accept-encoding": coding,
        "if-none-match": headers["etag"] as string,
      });
      expect([again.status, again.body.length, again.headers["etag"]]).toEqual([
        304,
        0,
        headers["etag"],
      ]);
      expect(again.headers).toMatchObject({
        vary: "accept-encoding",
        "cache-control": "no-cache",
        "x-content-type-options": "nosniff",
      });
    }
  });

  it("conditional requests may name lists of tags, weak tags, the asterisk, and dates (assets-12)", async () => {
    const tag = await tagOf("/assets/long.txt");
    const { headers } = await ask("/assets/long.txt");
    const status = async (fields: Record<string, string>): Promise<number> =>
      (await ask("/assets/long.txt", fields)).status;
    for (const list of [
      `"a", ${tag}`,
      `${tag}, "a"`,
      `"a",${tag},"b"`,
      tag.replace(/^W\//, ""),
      "*",
    ])
      expect(await status({ "if-none-match": list }), list).toBe(304);
    for (const list of ['"a", "b"', "", '"'])
      expect(await status({ "if-none-match": list }), list).toBe(200);
    expect(await status({ "if-modified-since": headers["last-modified"] as string })).toBe(304);
    expect(await status({ "if-modified-since": "Thu, 01 Jan 1970 00:00:00 GMT" })).toBe(200);
    // A tag takes precedence over a date.
    expect(
      await status({
        "if-none-match": '"a"',
        "if-modified-since": headers["last-modified"] as string,
      }),
    ).toBe(200);
  });

  it("a caller that has a file gets 304, even if it asks caches for what is current (assets-12)", async () => {
    const tag = await tagOf("/assets/long.txt");
    for (const path of ["/assets/long.txt", "/about.html"]) {
      const fields = { "if-none-match": await tagOf(path), "cache-control": "no-cache" };
      expect((await ask(path, fields)).status, path).toBe(304);
    }
    expect((await ask("/assets/long.txt", { "if-match": "*", "if-none-match": tag })).status).toBe(
      304,
    );
  });

  it("a file answers 412 if a precondition fails, and a weak tag never meets one (assets-12)", async () => {
    for (const path of ["/assets/long.txt", "/"]) {
      const tag = await tagOf(path);
      for (const match of ['"other"', tag, tag.replace(/^W\//, ""), `"other", ${tag}`]) {
        const answer = await ask(path, { "if-match": match, "if-none-match": tag });
        expect(
          [answer.status, answer.headers["x-content-type-options"]],
          `${path} ${match}`,
        ).toEqual([412, "nosniff"]);
      }
    }
    expect((await ask("/assets/long.txt", { "if-match": "*" })).status).toBe(200);
    const old = { "if-unmodified-since": "Thu, 01 Jan 1970 00:00:00 GMT" };
    expect((await ask("/assets/long.txt", old)).status).toBe(412);
    expect((await ask("/assets/long.txt", { ...old, "if-match": "*" })).status).toBe(200);
  });
});

describe("ranges", () => {
  const part = async (range: string, more: Record<string, string> = {}): Promise<Answer> =>
    await ask("/assets/long.txt", { range, ...more });

  it.each([
    ["bytes=4-8", "quick", `bytes 4-8/${long.length}`],
    ["bytes=0-0", "T", `bytes 0-0/${long.length}`],
    [
      `bytes=${long.length - 4}-`,
      "fox. ".slice(-4),
      `bytes ${long.length - 4}-${long.length - 1}/${long.length}`,
    ],
    ["bytes=-5", "fox. ", `bytes ${long.length - 5}-${long.length - 1}/${long.length}`],
    [
      `bytes=${long.length - 2}-999999`,
      ". ",
      `bytes ${long.length - 2}-${long.length - 1}/${long.length}`,
    ],
  ])(
    "assets-13: a request with a range gets that part, never compressed: %s",
    async (range, text, content) => {
      const answer = await part(range, { "accept-encoding": "br" });
      expect([answer.status, answer.body.toString(), answer.headers["content-range"]]).toEqual([
        206,
        text,
        content,
      ]);
      expect(answer.headers["content-encoding"]).toBeUndefined();
    },
  );

  it("a range of more last bytes than the file has is the whole file, and an empty file has none (assets-13)", async () => {
    for (const range of [`bytes=-${long.length}`, `bytes=-${long.length + 1}`, "bytes=-00900000"]) {
      const answer = await part(range);
      expect(
        [answer.status, answer.body.toString(), answer.headers["content-range"]],
        range,
      ).toEqual([206, long, `bytes 0-${long.length - 1}/${long.length}`]);
    }
    expect((await part("bytes=-0")).status).toBe(416);
    expect((await ask("/assets/empty.css", { range: "bytes=-5" })).status).toBe(416);
  });

  it("several ranges, or an invalid one, return the whole file (assets-13)", async () => {
    for (const range of [
      "bytes=0-1,4-5",
      "bytes=a-b",
      "bytes",
      "bytes=",
      "items=0-1",
      "bytes=--1",
      "bytes=8-4",
      "bytes=-",
      "bytes=0-1,a",
    ]) {
      const answer = await part(range);
      expect([answer.status, answer.body.toString()], range).toEqual([200, long]);
    }
  });

  it("If-Range returns the part if the file is unchanged, otherwise the whole file (assets-13)", async () => {
    const { headers } = await ask("/assets/long.txt");
    expect(
      (await part("bytes=0-1", { "if-range": headers["last-modified"] as string })).status,
    ).toBe(206);
    expect((await part("bytes=0-1", { "if-range": '"other"' })).status).toBe(200);
  });

  it("If-Range with a tag returns the whole file, as tags of files are weak (assets-13)", async () => {
    const tag = await tagOf("/assets/long.txt");
    for (const condition of [tag, tag.replace(/^W\//, "")]) {
      const answer = await part("bytes=0-1", { "if-range": condition });
      expect([answer.status, answer.body.toString()], condition).toEqual([200, long]);
    }
  });

  it("a range past the end answers 416 as text, with the file's length (assets-13)", async () => {
    for (const range of ["bytes=90000-", "bytes=90000-90001"]) {
      const answer = await part(range);
      expect([
        answer.status,
        answer.headers["content-range"],
        answer.headers["content-type"],
      ]).toEqual([416, `bytes */${long.length}`, "text/plain; charset=utf-8"]);
    }
  });
});

describe("compression", () => {
  it.each([
    ["br, gzip", "br", brotliDecompressSync],
    ["gzip, deflate, br, zstd", "br", brotliDecompressSync],
    ["gzip", "gzip", gunzipSync],
    ["br;q=0, gzip;q=0.5", "gzip", gunzipSync],
    ["br;q=0.2, gzip;q=0.8", "gzip", gunzipSync],
    ["gzip;q=0.8 , br; q=0.9", "br", brotliDecompressSync],
    ["BR", "br", brotliDecompressSync],
  ])(
    "assets-14: files are compressed with brotli or gzip, as accept-encoding says: %s, %s",
    async (accepted, coding, unpack) => {
      const answer = await ask("/assets/long.txt", { "accept-encoding": accepted });
      expect(answer.headers).toMatchObject({
        "content-encoding": coding,
        vary: "accept-encoding",
        "content-length": String(answer.body.length),
      });
      expect(answer.body.length).toBeLessThan(long.length / 4);
      expect(unpack(answer.body).toString()).toBe(long);
    },
  );

  it.each([
    "deflate",
    "identity",
    "gzip;q=0",
    "gzip;q=0.000",
    "identity, br;q=0.5",
    "br;q=x",
    "*",
    "",
  ])("a file is sent uncompressed for accept-encoding '%s' (assets-14)", async (accepted) => {
    const answer = await ask("/assets/long.txt", { "accept-encoding": accepted });
    expect([answer.headers["content-encoding"], answer.headers["vary"]]).toEqual([
      undefined,
      "accept-encoding",
    ]);
    expect(answer.body.toString()).toBe(long);
  });

  it("files that are compressed already, or small, are not compressed (assets-14)", async () => {
    for (const path of ["/assets/noise.png", "/assets/empty.css", "/about.html"])
      expect(
        (await ask(path, { "accept-encoding": "br" })).headers["content-encoding"],
      ).toBeUndefined();
    expect((await ask("/assets/noise.png")).headers["vary"]).toBeUndefined();
  });

  it("a brotli file that is asked for again becomes as small as it can be (assets-14)", async () => {
    const get = (): Promise<Answer> => ask("/assets/prose.txt", { "accept-encoding": "br" });
    const first = await get();
    const later = await vi.waitFor(async () => {
      const answer = await get();
      expect(answer.body.length).toBeLessThan(first.body.length);
      return answer;
    });
    expect(later.headers["content-length"]).toBe(String(later.body.length));
    expect(brotliDecompressSync(later.body).equals(brotliDecompressSync(first.body))).toBe(true);
    expect((await get()).body.length).toBe(later.body.length);
  });

  it("many simultaneous requests for a compressed file get the same bytes (assets-14)", async () => {
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => ask("/assets/data.json", { "accept-encoding": "br" })),
    );
    expect(new Set(answers.map((answer) => answer.body.toString("base64"))).size).toBe(1);
  });
});

describe("media types and caches", () => {
  it.each([
    ["/assets/long.txt", "text/plain; charset=utf-8"],
    ["/assets/data.json", "application/json; charset=utf-8"],
    ["/assets/noise.png", "image/png"],
    ["/assets/mark.svg", "image/svg+xml"],
    ["/assets/empty.css", "text/css; charset=utf-8"],
    ["/about.html", "text/html; charset=utf-8"],
    ["/assets/player.js", "text/javascript; charset=utf-8"],
    ["/assets/module.mjs", "text/javascript; charset=utf-8"],
    ["/assets/old.cjs", "text/javascript; charset=utf-8"],
    ["/shop/worker.js", "text/javascript; charset=utf-8"],
    ["/assets/code.wasm", "application/wasm"],
    ["/assets/app.webmanifest", "application/manifest+json"],
    ["/assets/unknown.zzz", "application/octet-stream"],
  ])("assets-15: a file has the media type of its extension: %s, %s", async (path, type) => {
    const answer = await ask(path);
    expect([
      answer.status,
      answer.headers["content-type"],
      answer.headers["x-content-type-options"],
    ]).toEqual([200, type, "nosniff"]);
    expect(String(answer.body.length)).toBe(answer.headers["content-length"]);
  });

  it("browsers may cache hashed build files for a year, and must revalidate all others (assets-11)", async () => {
    expect((await ask("/assets/app-4fKx_92Q.js")).headers["cache-control"]).toBe(
      "public, max-age=31536000, immutable",
    );
    for (const path of [
      "/",
      "/assets/long.txt",
      "/assets/my-document.txt",
      "/holidays-Summer24.txt",
    ])
      expect((await ask(path)).headers["cache-control"]).toBe("no-cache");
  });
});
