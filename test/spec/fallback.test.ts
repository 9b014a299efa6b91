// Deep links: addresses that only the page's own router knows lead to the page.

import { request as httpRequest } from "node:http";

import { describe, expect, it } from "vitest";

import type { StandaloneInput } from "../../server/config/config-types.ts";
import { Problems } from "../../src/base/problem.ts";
import { anyPort, applicationOf, builtOnce, start } from "./_started.ts";

const files = {
  "index.html": "<!doctype html><title>Shop</title>",
  "app.html": "<!doctype html><title>App</title>",
  "src/help/index.html": "<!doctype html><title>Help</title>",
  "src/plain.html": "<p>as it is",
  "src/logo.svg": "<svg/>",
  "src/shop.ts": "export async function price() { return 12; }",
  "segments/shop.segment.json": '{ "./shop": { "price": { "access": "public" } } }',
  "vite.config.js":
    'export default { build: { rolldownOptions: { input: ["app.html", "src/help/index.html"] } } };',
};

interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
}

/** The headers of a browser that requests a page. */
const page = { accept: "text/html,application/xhtml+xml,*/*;q=0.8", "sec-fetch-dest": "document" };

/** Sends a request with exactly this path. */
const ask = (
  url: string,
  path: string,
  headers: Readonly<Record<string, string>> = page,
  method = "GET",
): Promise<Answer> =>
  new Promise((resolve, reject) => {
    const { hostname, port } = new URL(url);
    httpRequest({ hostname, port, path, method, headers }, (response) => {
      let text = "";
      response.on("data", (chunk: Buffer) => (text += chunk.toString()));
      response.on("end", () =>
        resolve({ status: response.statusCode ?? 0, headers: response.headers, text }),
      );
    })
      .on("error", reject)
      .end();
  });

const titleOf = ({ status, text }: Answer): string =>
  status === 200 ? (/<title>(.*)<\/title>/.exec(text)?.[1] ?? text) : `${status} ${text}`;

const standalone: StandaloneInput = { mode: "standalone", url: anyPort };
const application = builtOnce(files);

describe("deep links", () => {
  it("fallback-1: GET and HEAD for a page at an address without a file answer 200 with the index", async () => {
    const { url } = await start(application, standalone);
    expect(titleOf(await ask(url, "/orders/7?tab=lines"))).toBe("Shop");
    expect(titleOf(await ask(url, "/a/b/c%20d/%C3%BC.x/"))).toBe("Shop");
    expect(titleOf(await ask(url, "/orders/7", { accept: "text/html" }))).toBe("Shop");
    expect(titleOf(await ask(url, "/orders/7", { ...page, "sec-fetch-dest": "iframe" }))).toBe(
      "Shop",
    );
    const head = await ask(url, "/orders/7", page, "HEAD");
    expect([head.status, head.text, head.headers["content-type"]]).toEqual([
      200,
      "",
      "text/html; charset=utf-8",
    ]);
  });

  it("fallback-2: the answer has `vary: accept` and `cache-control: no-cache`", async () => {
    const { url } = await start(application, standalone);
    const { headers } = await ask(url, "/orders/7");
    expect([headers["vary"], headers["cache-control"]]).toEqual([
      "accept, accept-encoding",
      "no-cache",
    ]);
    const again = await ask(url, "/orders/8", {
      ...page,
      "if-none-match": String(headers["etag"]),
    });
    expect([again.status, again.headers["vary"]]).toEqual([304, "accept, accept-encoding"]);
  });

  it.each<[string, string, Record<string, string>, string]>([
    ["accept doesn't name text/html", "GET", { accept: "*/*" }, "/orders/7"],
    ["there is no accept", "GET", {}, "/orders/7"],
    ["text/html has the weight 0", "GET", { accept: "text/html;q=0, */*" }, "/orders/7"],
    ["only the end of a type is text/html", "GET", { accept: "x-text/html" }, "/orders/7"],
    ["a script loads it", "GET", { ...page, "sec-fetch-dest": "empty" }, "/orders/7"],
    ["an image loads it", "GET", { ...page, "sec-fetch-dest": "image" }, "/orders/7"],
    ["a form posts", "POST", page, "/orders/7"],
    ["the path is below the build's assets", "GET", page, "/assets/index-4fKx_92Q.js"],
    ["the path is the folder of the build's assets", "GET", page, "/assets"],
    ["the path is below /svc", "GET", page, "/svc/no-such-file.js"],
    ["the path is below /health", "GET", page, "/health/nothing"],
    ["the path is /rpc", "GET", page, "/rpc"],
    ["the path is /rpc in escapes", "GET", page, "/%72pc/price"],
    ["the path has dots", "GET", page, "/orders/../7"],
    ["the path has dots in escapes", "GET", page, "/orders/%2e%2E/7"],
    ["the path ends with a dot", "GET", page, "/orders/."],
    ["the path has two slashes", "GET", page, "/orders//7"],
    ["the path begins with two slashes", "GET", page, "//orders"],
    ["the path has a backslash", "GET", page, "/orders\\7"],
    ["the path has an escaped slash", "GET", page, "/orders%2f7"],
    ["the path has an escaped backslash", "GET", page, "/orders%5C7"],
    ["the path has an escaped zero", "GET", page, "/orders%00"],
    ["the path has a bad escape", "GET", page, "/orders/%E0%A4%A"],
    ["the path is too long", "GET", page, `/${"a".repeat(2_048)}`],
  ])(
    "fallback-3: any other request gets the plain 404, byte for byte: %s",
    async (_, method, headers, path) => {
      const { url } = await start(application, standalone);
      const [answer, nothing] = [
        await ask(url, path, headers, method),
        await ask(url, "/nothing", {}),
      ];
      expect([answer.status, answer.text, { ...answer.headers, date: "" }]).toEqual([
        404,
        nothing.text,
        { ...nothing.headers, date: "" },
      ]);
    },
  );

  it("procedures, the runtime, health and files answer as without it (fallback-3)", async () => {
    const { url } = await start(application, { ...standalone, assets: ["logo.svg"] });
    expect((await ask(url, "/rpc/price")).text).toBe("12");
    expect((await ask(url, "/rpc/other")).status).toBe(404);
    expect((await ask(url, "/health")).text).toBe("{}");
    expect((await ask(url, "/svc/client.js")).headers["content-type"]).toContain("javascript");
    expect((await ask(url, "/logo.svg")).text).toBe("<svg/>");
  });

  it("fallback-4: `fallback` in the configuration names another page, or turns it off", async () => {
    const app = await start(application, { ...standalone, fallback: "./app.html" });
    expect(titleOf(await ask(app.url, "/orders/7"))).toBe("App");
    expect(titleOf(await ask(app.url, "/"))).toBe("Shop");
    const off = await start(application, { ...standalone, fallback: false });
    expect((await ask(off.url, "/orders/7")).status).toBe(404);
    const help = await start(application, { ...standalone, fallback: "help/index.html" });
    expect(titleOf(await ask(help.url, "/orders/7"))).toBe("Help");
  });

  it("fallback-5: without the key it is on if Vite's `appType` is `spa`, and off otherwise", async () => {
    expect(application.manifest()).toMatchObject({ singlePage: true, assetsFolder: "assets" });
    const pages = applicationOf({
      ...files,
      "vite.config.js": 'export default { appType: "mpa", build: { assetsDir: "built/files" } };',
    });
    await pages.build();
    expect(pages.manifest()).toMatchObject({ singlePage: false, assetsFolder: "built/files" });
    const off = await start(pages, standalone);
    expect((await ask(off.url, "/orders/7")).status).toBe(404);
    const on = await start(pages, { ...standalone, fallback: true });
    expect(titleOf(await ask(on.url, "/assets/7"))).toBe("Shop");
    expect((await ask(on.url, "/built/files/7")).status).toBe(404);
  });

  it("fallback-6: a proxy passes requests for pages to the repository, which answers them", async () => {
    const repository = await start(application, {
      mode: "repository",
      url: anyPort,
      fallback: "app.html",
      trustKey: "the-trust-key-of-the-fallback",
    });
    const proxy = await start(application, {
      mode: "proxy",
      url: anyPort,
      node: "http://127.0.0.1:9",
      repository: repository.url,
      trustKey: "the-trust-key-of-the-fallback",
    });
    const answer = await ask(proxy.url, "/orders/7");
    expect([titleOf(answer), answer.headers["vary"], answer.headers["cache-control"]]).toEqual([
      "App",
      "accept, accept-encoding",
      "no-cache",
    ]);
    expect((await ask(proxy.url, "/orders/7", { accept: "*/*" })).status).toBe(404);
    expect((await ask(proxy.url, "/assets/7")).status).toBe(404);
  });

  it.each([
    ["plain.html", 'the build has no page "plain.html"'],
    ["nowhere.html", 'the build has no page "nowhere.html"'],
    ["src/logo.svg", 'the build has no page "src/logo.svg"'],
    ["../../app.html", 'the build has no page "../../app.html"'],
  ])(
    "fallback-7: a page that the build doesn't have ends the start, with the key and a hint: %s",
    async (fallback, message) => {
      const config = { ...standalone, assets: ["plain.html"], fallback };
      const problem = await start(application, config).catch((error: unknown) => error);
      expect(problem).toBeInstanceOf(Problems);
      expect((problem as Problems).problems).toMatchObject([
        { path: "fallback", message, hint: expect.stringContaining("build again") as string },
      ]);
    },
  );

  it("`fallback: true` without an index ends the start, and no key at all doesn't (fallback-7)", async () => {
    const bare = applicationOf({
      "src/shop.ts": files["src/shop.ts"],
      "segments/shop.segment.json": files["segments/shop.segment.json"],
    });
    await bare.build();
    await expect(start(bare, { ...standalone, fallback: true })).rejects.toThrow(
      `there is no page at / to answer with: the build has no "index.html"`,
    );
    const { url, lines } = await start(bare, standalone);
    expect((await ask(url, "/orders/7")).status).toBe(404);
    expect(lines.join("\n")).not.toContain("fallback");
  });

  it.each([[null], [7], [""], [["app.html"]], [{}]])(
    "a `fallback` that is neither a boolean nor a path is refused with the key (fallback-4): %j",
    async (fallback) => {
      await expect(start(application, { ...standalone, fallback })).rejects.toThrow(
        /fallback.*expected/,
      );
    },
  );

  it("fallback-8: a page of the build is also found without `.html`, and at its folder without a slash", async () => {
    const { url } = await start(application, {
      ...standalone,
      assets: ["plain.html"],
      fallback: false,
    });
    expect(titleOf(await ask(url, "/app", {}))).toBe("App");
    expect(titleOf(await ask(url, "/app?x=1", {}, "GET"))).toBe("App");
    expect(titleOf(await ask(url, "/src/help", {}))).toBe("Help");
    expect(titleOf(await ask(url, "/src/help/", {}))).toBe("Help");
    expect((await ask(url, "/plain", {})).status).toBe(404);
    expect(titleOf(await ask(url, "/plain.html", {}))).toBe("<p>as it is");
    expect((await ask(url, "/app/", {})).status).toBe(404);
    expect((await ask(url, "", {})).status).toBe(200);
  });
});
