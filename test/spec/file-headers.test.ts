// Headers that a configuration adds to files and pages, and a fallback page with status 404.

import { describe, expect, it } from "vitest";

import { asBrowser, asking } from "./_asking.ts";
import { anyPort, builtOnce, start } from "./_started.ts";

const application = builtOnce({
  ...asking,
  "404.html": "<!doctype html><title>Nothing</title>\n",
  "src/hook.ts":
    'export async function hook(): Promise<Response> {\n  return new Response("hooked");\n}\n',
  "hook.segment.json": '{ "./hook": { "hook": { "access": "public", "route": "GET /hook" } } }\n',
  "vite.config.js":
    'export default { build: { rolldownOptions: { input: ["index.html", "404.html"] } } };\n',
  "public/admin/a.txt": "a",
});

const standalone = { mode: "standalone", url: anyPort };
const policy = "default-src 'self'";

describe("'headers' of a configuration", () => {
  it("are on files, pages and the fallback page: all rules that match apply, and the later one decides", async () => {
    const { url } = await start(application, {
      ...standalone,
      fallback: true,
      headers: {
        "/**": { "Content-Security-Policy": policy, "referrer-policy": "no-referrer" },
        "/admin/*": { "referrer-policy": "same-origin", "x-robots-tag": "noindex" },
      },
    });
    const get = async (path: string, headers: Record<string, string> = asBrowser) => {
      const answer = await fetch(url + path, { headers });
      await answer.arrayBuffer();
      return [
        answer.status,
        ...["content-security-policy", "referrer-policy", "x-robots-tag"].map((name) =>
          answer.headers.get(name),
        ),
      ];
    };
    expect(await get("/")).toEqual([200, policy, "no-referrer", null]);
    expect(await get("/orders/7")).toEqual([200, policy, "no-referrer", null]);
    expect(await get("/admin/a.txt")).toEqual([200, policy, "same-origin", "noindex"]);
    const { headers } = await fetch(url);
    const etag = headers.get("etag") ?? "";
    expect(await get("/", { "if-none-match": etag })).toEqual([304, policy, "no-referrer", null]);
    // Answers of ours and of the application have their own.
    expect(await get("/rpc/ask")).toEqual([200, "sandbox; default-src 'none'", null, null]);
    expect(await get("/hook")).toEqual([200, null, null, null]);
    expect(await get("/svc/client.js")).toEqual([200, null, null, null]);
    expect(await get("/none.txt", {})).toEqual([404, null, null, null]);
  });

  it.each([
    [
      "script-src 'none'",
      "script-src doesn't allow 'self', so pages can't load their scripts and Seamline",
    ],
    [
      "script-src 'self' 'strict-dynamic' 'nonce-a'",
      "script-src doesn't allow 'self', so pages can't load their scripts and Seamline",
    ],
    [
      "script-src 'self'; connect-src 'none'",
      "connect-src doesn't allow 'self', so pages can't call procedures",
    ],
    [
      "default-src data:; script-src https:",
      "default-src doesn't allow 'self', so pages can't call procedures",
    ],
    ["sandbox allow-scripts", "sandbox lacks allow-same-origin, so pages can't call procedures"],
    ["sandbox allow-same-origin", "sandbox lacks allow-scripts, so pages can't call procedures"],
  ])("a policy under which Seamline can't work is a warning: %s", async (wrong, warning) => {
    const { lines } = await start(application, {
      ...standalone,
      headers: { "/**": { "content-security-policy": wrong } },
    });
    expect(lines.filter((line) => line.startsWith("warning:"))).toEqual([
      `warning: 'headers': "/**": content-security-policy: ${warning}`,
    ]);
  });

  it.each([
    "default-src 'self'",
    "default-src 'none'; script-src 'self'; connect-src 'self' https://api.example",
    "script-src https://shop.example; connect-src *",
    "frame-ancestors 'none'",
  ])("a policy under which it works is none: %s", async (right) => {
    const { lines } = await start(application, {
      ...standalone,
      headers: { "/**": { "content-security-policy": right } },
    });
    expect(lines.filter((line) => line.startsWith("warning:"))).toEqual([]);
  });

  it("that can't be set are refused with their key", async () => {
    const refused = async (headers: object): Promise<string> =>
      await start(application, { ...standalone, headers }).then(
        () => "started",
        (error: unknown) => (error as Error).message.split("\n")[0] ?? "",
      );
    expect(await refused({ "/**": { "content-length": "1" } })).toBe(
      "configuration at headers./**.content-length: Seamline sets 'content-length' for each file itself",
    );
    for (const [name, words] of [
      ["Set-Cookie", "files set no cookies"],
      ["connection", "'connection' belongs to the connection"],
      ["x-svc-node", "Seamline sets 'x-svc-node'"],
      ["x y", "can't be the name of a header"],
    ] as const)
      expect(await refused({ "/**": { [name]: "a" } })).toContain(words);
    expect(await refused({ "/**": { "x-a": "a\r\nx-b: b" } })).toContain(
      "has a character that headers can't carry",
    );
    expect(await refused({ "admin/*": { "x-a": "a" } })).toContain(
      "expected a glob of URL paths, which begins with a slash",
    );
    expect(await refused({ "/**": "a" })).toContain("expected an object of headers");
  });
});

it("a fallback page can say that nothing is there: its status is 404", async () => {
  const fallback = { page: "404.html", status: 404 };
  const { url } = await start(application, { ...standalone, fallback });
  const page = await fetch(`${url}/orders/7`, { headers: asBrowser });
  expect([page.status, await page.text(), page.headers.get("content-type")]).toEqual([
    404,
    expect.stringContaining("<title>Nothing</title>"),
    "text/html; charset=utf-8",
  ]);
  expect(page.headers.get("vary")).toContain("accept");
  expect((await fetch(`${url}/orders/7`)).headers.get("content-type")).toMatch(/^text\/plain/);
  await expect(
    start(application, { ...standalone, fallback: { page: "none.html", status: 404 } }),
  ).rejects.toThrow('fallback: the build has no page "none.html"');
});
