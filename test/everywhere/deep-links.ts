// Addresses that only the page's own router knows.

import { expect, it } from "vitest";

import type { Mode, Suite } from "./_modes.ts";

const asBrowser = { accept: "text/html,*/*;q=0.8", "sec-fetch-dest": "document" };
const asScript = { accept: "application/json", "sec-fetch-dest": "empty" };

export const deepLinks: Suite = {
  title: "deep links",
  files: {},
  tests(mode) {
    // The test kit runs procedures and has no pages. Another server may have pages of its own.
    const hasPages = (): boolean => !["test kit", "in Express", "in Hono"].includes(mode().name);
    const get = async (
      path: string,
      headers: Record<string, string>,
    ): ReturnType<Mode["request"]> => await mode().request(path, { headers });

    it("a browser that wants a page gets the index at an address without a file", async () => {
      for (const path of ["/orders/7", "/orders/", "/a/b/c?tab=lines"]) {
        const answer = await get(path, asBrowser);
        const text = await answer.text();
        expect([path, answer.status, text.includes("<title>Everywhere</title>")]).toEqual(
          hasPages() ? [path, 200, true] : [path, 404, false],
        );
      }
    });

    it("a script that fetches data from an address without a file gets 404", async () => {
      expect((await get("/orders/7", asScript)).status).toBe(404);
    });

    it("another method at an address without a file is 404, from browsers too", async () => {
      for (const headers of [asBrowser, asScript, {}]) {
        const init = { method: "POST", headers, body: "x" };
        expect((await mode().request("/orders/7", init)).status).toBe(404);
      }
    });

    it("the runtime's own paths never lead to the index", async () => {
      for (const path of ["/rpc/none", "/svc/none.js", "/health/none"]) {
        const answer = await get(path, asBrowser);
        expect([path, answer.status]).toEqual([path, 404]);
      }
    });
  },
};
