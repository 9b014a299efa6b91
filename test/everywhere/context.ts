// The context: what is set three services away is in the one answer to the outermost caller.

import { expect, it } from "vitest";

import type { Suite } from "./_modes.ts";

export const context: Suite = {
  title: "context",
  configuration: { middleware: ["./layers/visits.js"] },
  files: {
    // It runs on each service that passes a call on or runs it.
    "layers/visits.js": `import { getContext } from "seamline";
export default {
  async handle(fqn, version, args, headers, next) {
    if (!fqn.startsWith("context/")) return await next();
    const { locals, cookies } = getContext();
    locals.visits = (locals.visits ?? 0) + 1;
    if (cookies.get("name") !== undefined) locals.user = { name: cookies.get("name") };
    return await next();
  },
};
`,
    "segments/context.segment.json":
      '{ "./context/outer": { "outer": { "access": "public" }, "fail": { "access": "public" } } }\n',
    "segments/context-inner.segment.json":
      '{ "./context/inner": { "inner": { "access": "protected" } } }\n',
    "src/context/locals.ts": `declare module "seamline" {
  interface Locals {
    user?: { readonly name: string };
    visits?: number;
  }
}
export {};
`,
    "src/context/outer.ts": `import { getContext } from "seamline";
import { inner } from "./inner.ts";
export async function outer(): Promise<object> {
  const { response } = getContext();
  response.headers.set("x-outer", "1");
  response.cookies.set("both", "outer");
  const told = await inner();
  response.status = 201;
  return told;
}
export async function fail(): Promise<void> {
  getContext().response.headers.set("x-outer", "1");
  await inner();
  throw new Error("failed");
}
`,
    "src/context/inner.ts": `import { getContext } from "seamline";
import "./locals.ts";
export async function inner(): Promise<object> {
  await new Promise((resolve) => setTimeout(resolve, 1));
  const { locals, cookies, request, response, headers } = getContext();
  response.headers.set("x-inner", "1");
  response.cookies.set("both", "inner");
  response.cookies.set("session", "s", { maxAge: 60 });
  return {
    user: locals.user,
    visited: (locals.visits ?? 0) > 0,
    frozen: Object.isFrozen(locals) && Object.isFrozen(locals.user),
    theme: cookies.get("theme"),
    method: request?.method,
    path: new URL(request?.url ?? "").pathname,
    language: headers.get("accept-language"),
  };
}
`,
  },
  tests(mode) {
    const cookie = "name=Ann; theme=dark; broken; =";
    const set = [
      expect.stringMatching(/^both=inner; Path=\/; HttpOnly;/),
      expect.stringMatching(/^session=s; Max-Age=60; Path=\/; HttpOnly;/),
    ];

    it("cookies, headers and the status that procedures of two nodes set are in the one answer", async () => {
      const answer = await mode().request("/rpc/context/outer", {
        headers: { cookie, "accept-language": "de" },
      });
      expect(answer.status).toBe(201);
      expect(answer.headers.get("x-outer")).toBe("1");
      expect(answer.headers.get("x-inner")).toBe("1");
      expect(answer.headers.getSetCookie()).toEqual(set);
      expect(answer.headers.get("cache-control")).toBe("no-store");
      expect([...answer.headers.keys()].filter((name) => name.startsWith("x-svc-"))).not.toContain(
        "x-svc-response",
      );
      expect(await answer.json()).toEqual({
        user: { name: "Ann" },
        visited: true,
        frozen: true,
        theme: "dark",
        method: "GET",
        path: "/rpc/context/outer",
        language: "de",
      });
    });

    it("an answer that is an error has the cookies only", async () => {
      const answer = await mode().request("/rpc/context/fail");
      expect(answer.status).toBe(500);
      expect(answer.headers.get("x-outer")).toBeNull();
      expect(answer.headers.getSetCookie()).toEqual(set);
    });

    it("locals and an outer request that an outsider sends have no effect", async () => {
      const answer = await mode().request("/rpc/context/outer", {
        headers: {
          "x-svc-locals": Buffer.from('{"user":{"name":"root"}}').toString("base64url"),
          "x-svc-request": "DELETE secure 10.0.0.1 https://evil.example/evil",
          "x-svc-response": Buffer.from('{"cookies":[["k","evil=1"]]}').toString("base64url"),
        },
      });
      expect(await answer.json()).toMatchObject({ method: "GET", path: "/rpc/context/outer" });
      expect(answer.headers.getSetCookie()).toEqual(set);
    });
  },
};
