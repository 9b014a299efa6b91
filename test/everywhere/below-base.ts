// Vite's `base` as a path: everything of ours is below it, and without it as well.

import { expect, it } from "vitest";

import type { Suite } from "./_modes.ts";

const asBrowser = { accept: "text/html,*/*;q=0.8", "sec-fetch-dest": "document" };

export const belowBase: Suite = {
  title: "below Vite's base",
  files: {
    "segments/base.segment.json": `{
  "./base/ask": { "ask": { "access": "public" } },
  "./base/hook": { "hook": { "access": "public", "route": "GET /hooks/:name" } }
}
`,
    "segments/base-inner.segment.json":
      '{ "./base/inner": { "inner": { "access": "protected" } } }\n',
    "src/base/ask.ts": `import { getContext } from "seamline";
import { inner } from "./inner.ts";
export async function ask(): Promise<string> {
  getContext().response.cookies.set("own", "1");
  getContext().response.cookies.set("__Host-own", "1", { secure: true });
  return await inner();
}
`,
    "src/base/inner.ts": `import { getContext } from "seamline";
export async function inner(): Promise<string> {
  getContext().response.cookies.set("inner", "1");
  return new URL(getContext().request.url).pathname;
}
`,
    "src/base/hook.ts": `import { getContext } from "seamline";
export async function hook(request: Request): Promise<Response> {
  return new Response(new URL(request.url).pathname + " " + getContext().params.name);
}
`,
    "public/notes/a.txt": "a note",
  },
  tests(mode) {
    const isKit = (): boolean => mode().name === "test kit";
    const get = async (path: string, headers: Record<string, string> = {}) => {
      const answer = await mode().request(path, { headers });
      return { status: answer.status, headers: answer.headers, text: await answer.text() };
    };

    it("calls are answered below the base and without it, and their context has the public address", async () => {
      for (const path of ["/shop/rpc/base/ask", "/rpc/base/ask"])
        expect(await get(path)).toMatchObject({ status: 200, text: "/shop/rpc/base/ask" });
    });

    it("cookies are for the base unless they name a path", async () => {
      const { headers } = await get("/shop/rpc/base/ask");
      const cookies = headers
        .getSetCookie()
        .map((cookie) => cookie.split("; ").slice(0, 2).join("; "));
      expect(new Set(cookies)).toEqual(
        new Set(["__Host-own=1; Path=/", "inner=1; Path=/shop", "own=1; Path=/shop"]),
      );
    });

    it("routes are below the base and without it", async () => {
      for (const path of ["/shop/hooks/a", "/hooks/a"])
        expect(await get(path)).toMatchObject({ status: 200, text: "/shop/hooks/a a" });
    });

    it("health is at both", async () => {
      for (const path of ["/shop/health/status", "/health/status"])
        expect(await get(path)).toMatchObject({ status: 200, text: "true" });
    });

    it("the base is taken off once, and only as it is written", async () => {
      for (const path of [
        "/shop/shop/rpc/base/ask",
        "/SHOP/rpc/base/ask",
        "/shop//rpc/base/ask",
        "/shop%2frpc/base/ask",
        "/shopping/rpc/base/ask",
        "/sh%6fp/rpc/base/ask",
      ]) {
        const { text, status } = await get(path);
        // Other servers may have their own answer.
        if (mode().name.startsWith("start")) expect([path, status]).toEqual([path, 404]);
        expect([path, text]).not.toEqual([path, "/shop/rpc/base/ask"]);
      }
    });

    it("the page, its scripts, the runtime and files are below the base", async () => {
      if (isKit()) return;
      const page = await get("/shop/", asBrowser);
      expect(page).toMatchObject({ status: 200 });
      expect(page.text).toContain("<title>Everywhere</title>");
      const addresses = [...page.text.matchAll(/(?:src|href)="([^"]+)"/g)].map(
        ([, at]) => at ?? "",
      );
      expect(addresses.length).toBeGreaterThan(0);
      for (const address of [...addresses, "/shop/svc/client.js", "/shop/svc/manifest.json"]) {
        expect(address).toMatch(/^\/shop\//);
        expect([address, (await get(address)).status]).toEqual([address, 200]);
      }
      const own = addresses.filter((address) => !address.startsWith("/shop/svc/"));
      const scripts = await Promise.all(own.map(async (address) => (await get(address)).text));
      expect(scripts.join("\n")).not.toMatch(/["'`]\/svc\//);
    });

    it("files are below the base", async () => {
      if (isKit()) return;
      expect(await get("/shop/notes/a.txt")).toMatchObject({ status: 200, text: "a note" });
    });

    it("the base without its slash leads to the page", async () => {
      // Vite has a redirect of its own.
      if (isKit() || /vite|dev/.test(mode().name)) return;
      const answer = await get("/shop?a=1", asBrowser);
      expect([answer.status, answer.headers.get("location")]).toEqual([308, "/shop/?a=1"]);
    });
  },
};
