// Routes: raw requests and answers, in front of pages and files.

import { expect, it } from "vitest";

import type { Suite } from "./_modes.ts";

export const routes: Suite = {
  title: "routes",
  files: {
    "segments/routes.segment.json": JSON.stringify({
      "./routes/hooks": {
        hook: { access: "public", route: "POST /hooks/:provider", crossSite: true },
        closed: { access: "public", route: "POST /closed-hook" },
        login: { access: "public", route: "GET /login-redirect" },
        secret: { access: "protected", route: "GET /secret-feed" },
        upload: { access: "public", route: "POST /upload/*path", bodyBytes: 5_000_000 },
        broken: { access: "public", route: "GET /broken-hook" },
        made: { access: "public", route: "GET /made-hook/:name" },
      },
    }),
    "segments/routes-inner.segment.json": JSON.stringify({
      "./routes/inner": { feed: { access: "public", route: "GET /feed.xml" } },
    }),
    "src/routes/hooks.ts": `import { getContext } from "seamline";

export async function hook(request: Request): Promise<Response> {
  const { provider } = getContext().params;
  return new Response(provider + " " + (await request.text()), { status: 202 });
}
export async function closed(): Promise<Response> {
  return new Response("closed");
}
export async function login(request: Request): Promise<Response> {
  getContext().response.cookies.set("state", "s1");
  const headers = new Headers({ location: new URL("/signed-in", request.url).href });
  headers.append("set-cookie", "own=1; Path=/");
  return new Response(null, { status: 302, headers });
}
export async function secret(): Promise<Response> {
  return new Response("secret");
}
export async function upload(request: Request): Promise<Response> {
  return new Response(request.body, { headers: { "x-path": getContext().params.path ?? "" } });
}
const json = (make: (request: Request) => Promise<object>) => async (request: Request) =>
  Response.json(await make(request));
export const made = json(async (request) => ({
  name: getContext().params.name,
  query: new URL(request.url).search,
}));
export async function broken(): Promise<Response> {
  return undefined as never;
}
`,
    "src/routes/inner.ts": `export async function feed(): Promise<Response> {
  return new Response("<feed/>", { headers: { "content-type": "application/rss+xml" } });
}
`,
  },
  tests(mode) {
    const html = { accept: "text/html", "sec-fetch-dest": "document" };

    it("a webhook gets its body and the parameters of its path, and answers with its status", async () => {
      const body = JSON.stringify({ a: 1 });
      const headers = { "content-type": "application/json" };
      const answer = await mode().request("/hooks/my%20shop", { method: "POST", headers, body });
      expect([answer.status, await answer.text()]).toEqual([202, 'my shop {"a":1}']);
    });

    it("a redirect leads to the public origin, with the cookies of Response and context", async () => {
      const answer = await mode().request("/login-redirect", { headers: html });
      expect(answer.status).toBe(302);
      const location = answer.headers.get("location") ?? "";
      expect(new URL(location).pathname).toBe("/signed-in");
      if (answer.url !== "") expect(new URL(location).host).toBe(new URL(answer.url).host);
      const cookies = answer.headers.getSetCookie().map((cookie) => cookie.split(";")[0]);
      expect(cookies).toEqual(["own=1", "state=s1"]);
    });

    it("a route comes before pages, and one on another node is found", async () => {
      const answer = await mode().request("/feed.xml", { headers: html });
      expect(answer.headers.get("content-type")).toBe("application/rss+xml");
      expect(await answer.text()).toBe("<feed/>");
    });

    it("another method is 405, OPTIONS lists the methods, HEAD has no body", async () => {
      const wrong = await mode().request("/feed.xml", { method: "DELETE" });
      expect([wrong.status, wrong.headers.get("allow")]).toEqual([405, "GET, HEAD, OPTIONS"]);
      const options = await mode().request("/feed.xml", { method: "OPTIONS" });
      expect([options.status, options.headers.get("allow")]).toEqual([204, "GET, HEAD, OPTIONS"]);
      const head = await mode().request("/feed.xml", { method: "HEAD" });
      expect([head.status, await head.text()]).toEqual([200, ""]);
      // A GET would have a body, so its length isn't 0.
      expect(head.headers.get("content-length")).not.toBe("0");
    });

    it("a form of another origin is refused, unless the entry says crossSite", async () => {
      const form = {
        method: "POST",
        headers: {
          "content-type": "application/x-www-form-urlencoded",
          "sec-fetch-site": "cross-site",
          origin: "https://evil.example",
        },
        body: "a=1",
      };
      expect((await mode().request("/closed-hook", form)).status).toBe(403);
      expect((await mode().request("/hooks/form", form)).status).toBe(202);
    });

    it("a protected route answers 401, and a route can't be called", async () => {
      expect((await mode().request("/secret-feed")).status).toBe(401);
      expect((await mode().request("/rpc/routes/feed")).status).toBe(404);
    });

    it("a body larger than calls may have passes both ways, and one over bodyBytes is 413", async () => {
      const bytes = new Uint8Array(4_000_000).fill(7);
      const headers = { "content-type": "application/octet-stream" };
      const upload = { method: "POST", headers };
      const answer = await mode().request("/upload/a/b.bin", { ...upload, body: bytes });
      expect([answer.status, answer.headers.get("x-path")]).toEqual([200, "a/b.bin"]);
      const echoed = await answer.arrayBuffer();
      expect([echoed.byteLength, new Uint8Array(echoed).every((byte) => byte === 7)]).toEqual([
        bytes.length,
        true,
      ]);
      const tooLarge = await mode()
        .request("/upload/c", { ...upload, body: new Uint8Array(6_000_000) })
        // The connection may be cut before the answer is read.
        .catch(() => undefined);
      expect([413, undefined]).toContain(tooLarge?.status);
    });

    it("a route that another function makes gets the request and the parameters of its path", async () => {
      const answer = await mode().request("/made-hook/a%20b?c=d");
      expect([answer.status, await answer.json()]).toEqual([200, { name: "a b", query: "?c=d" }]);
    });

    it("a route that returns no Response is 500, and the next request works", async () => {
      const answer = await mode().request("/broken-hook");
      expect(answer.status).toBe(500);
      expect((await mode().request("/feed.xml")).status).toBe(200);
    });
  },
};
