// Requests that pages of other origins cause.

import { expect, it } from "vitest";

import type { Suite } from "./_modes.ts";

const foreign = { origin: "https://evil.example", "sec-fetch-site": "cross-site" };
const form = { ...foreign, "content-type": "application/x-www-form-urlencoded" };

export const crossSite: Suite = {
  title: "cross-site requests",
  files: {
    "segments/sites.segment.json": JSON.stringify({
      "./sites/stock": {
        left: { access: "public", safe: true },
        order: { access: "public" },
      },
    }),
    "src/sites/stock.ts": `export async function left(): Promise<string> {
  return "12 m";
}
export async function order(): Promise<string> {
  return "ordered";
}
`,
  },
  tests(mode) {
    const call = async (
      name: string,
      init: RequestInit = {},
    ): Promise<[status: number, text: string]> => {
      const answer = await mode().request(`/rpc/sites/${name}`, init);
      return [answer.status, await answer.text()];
    };
    const refused = [403, "A page of another origin may not make this call"];

    it("a GET of another origin is refused, unless the entry says that the procedure is safe", async () => {
      expect(await call("order", { headers: foreign })).toEqual(refused);
      expect(await call("order", { headers: { "sec-fetch-site": "same-site" } })).toEqual(refused);
      expect(await call("order", { headers: { origin: "null" } })).toEqual(refused);
      expect(await call("left", { headers: foreign })).toEqual([200, "12 m"]);
      expect(await call("order")).toEqual([200, "ordered"]);
    });

    it("a form of another origin can't call", async () => {
      for (const type of ["application/x-www-form-urlencoded", "text/plain", "multipart/form-data"])
        expect(
          await call("order", {
            method: "POST",
            headers: { ...form, "content-type": type },
            body: "",
          }),
          type,
        ).toEqual(refused);
    });

    it("a preflight of another origin allows nothing", async () => {
      const answer = await mode().request("/rpc/sites/order", {
        method: "OPTIONS",
        headers: { ...foreign, "access-control-request-method": "POST" },
      });
      expect([answer.status, answer.headers.get("access-control-allow-origin")]).toEqual([
        204,
        null,
      ]);
    });
  },
};
