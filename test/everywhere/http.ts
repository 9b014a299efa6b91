// HTTP as callers in other languages speak it: JSON answers, versions in paths, QUERY.

import { expect, it } from "vitest";

import type { Suite } from "./_modes.ts";

export const http: Suite = {
  title: "HTTP for others",
  files: {
    "segments/http.segment.json": JSON.stringify({
      "./http/find": {
        find: { access: "public", safe: true },
        second: { access: "public", safe: true, as: "find", version: "2" },
        change: { access: "public" },
      },
    }),
    "src/http/find.ts": `export async function find(metres: number): Promise<string> {
  return metres + " m";
}
export async function second(metres: number): Promise<bigint> {
  return BigInt(metres) * 100n;
}
export async function change(metres: number): Promise<string> {
  return metres + " m changed";
}
`,
  },
  tests(mode) {
    const accept = { accept: "application/json" };
    const query = async (name: string, body: string, headers: Record<string, string> = {}) =>
      await mode().request(`/rpc/http/${name}`, {
        method: "QUERY",
        headers: { "content-type": "application/json", ...headers },
        body,
      });

    it("a caller that asks for JSON gets JSON, and errors as problem details", async () => {
      const answer = await mode().request("/rpc/http/find?metres=2", { headers: accept });
      expect([answer.status, answer.headers.get("content-type"), await answer.text()]).toEqual([
        200,
        "application/json",
        '"2 m"',
      ]);
      expect(answer.headers.get("vary")).toContain("accept, x-svc-data-encoding");
      const refused = await mode().request("/rpc/http/find?metres=two", { headers: accept });
      expect(refused.headers.get("content-type")).toBe("application/problem+json");
      expect(await refused.json()).toEqual({
        type: "urn:seamline:InvalidParameterValue",
        title: "InvalidParameterValue",
        status: 400,
        detail: "metres: expected number, got text",
        faults: [{ path: "metres", message: "expected number, got text" }],
      });
      const unknown = await mode().request("/rpc/http/nothing", { headers: accept });
      expect(await unknown.json()).toMatchObject({ status: 404, title: "ProcedureNotFound" });
    });

    it("a version in the path means the same as one in the query", async () => {
      for (const path of ["find@2?metres=3", "find%402.0.0?metres=3", "find?version=2&metres=3"]) {
        const answer = await mode().request(`/rpc/http/${path}`);
        expect([path, await answer.text()]).toEqual([path, "300"]);
      }
      expect((await mode().request("/rpc/http/find@2?version=2&metres=3")).status).toBe(400);
    });

    it("a QUERY calls safe procedures, and no others", async () => {
      expect(await (await query("find", '{"metres":4}')).text()).toBe("4 m");
      expect(await (await query("find@2", '{"metres":4}', accept)).text()).toBe('"400"');
      const refused = await query("change", '{"metres":4}');
      expect([refused.status, refused.headers.get("allow")]).toEqual([405, "GET, POST"]);
      expect((await query("find", "metres=4", { "content-type": "text/plain" })).status).toBe(415);
      expect((await query("nothing", "{}")).status).toBe(404);
      const options = await mode().request("/rpc/http/find", { method: "OPTIONS" });
      expect(options.headers.get("allow")).toBe("GET, POST, QUERY");
    });
  },
};
