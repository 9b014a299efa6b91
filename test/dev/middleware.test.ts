// Middleware and health checks that call procedures: in production in the same process, in
// development on the nodes.

import { describe, expect, it } from "vitest";

import { develop, eventually, type Files, shop } from "./_session.ts";

const open = { access: "public" };
const files: Files = {
  ...shop,
  "src/users/user.ts":
    "export class User {\n  name: string;\n  constructor(name: string) {\n    this.name = name;\n  }\n}\n",
  "src/users/find.ts": [
    'import { Forbidden } from "seamline";',
    'import { User } from "./user.ts";',
    "let calls = 0;",
    "export async function find(name: string): Promise<User> {",
    '  if (name === "nobody") throw new Forbidden("who are you?");',
    "  calls++;",
    "  return new User(name);",
    "}",
    "export async function count(): Promise<number> {",
    "  return calls;",
    "}",
    "export async function isOpen(hour: number): Promise<boolean> {",
    "  return hour < 24;",
    "}",
    "",
  ].join("\n"),
  "segments/users.segment.json": JSON.stringify({
    "./users/find": { find: { access: "protected" }, count: open, isOpen: { access: "private" } },
  }),
  "src/layer.ts": [
    'import { runProcedure } from "seamline";',
    'import { find, isOpen } from "./users/find.ts";',
    'import { User } from "./users/user.ts";',
    "export default {",
    "  async handle(_fqn: string, _version: unknown, _args: unknown, headers: Map<string, string>, next: () => Promise<unknown>) {",
    '    const user = await find(headers.get("x-user") ?? "somebody");',
    '    if (!(user instanceof User)) throw new Error("no user");',
    '    if (!(await isOpen(12))) throw new Error("closed");',
    '    if (typeof (await runProcedure("users/count")) !== "number") throw new Error("no count");',
    "    return await next();",
    "  },",
    "};",
    "",
  ].join("\n"),
  "src/ready.ts": [
    'import { count } from "./users/find.ts";',
    "export default class {",
    "  async isHealthy(): Promise<boolean> {",
    "    return (await count()) >= 0;",
    "  }",
    "}",
    "",
  ].join("\n"),
  "seamline.json": JSON.stringify({
    mode: "standalone",
    url: "http://127.0.0.1:0",
    middleware: ["./src/layer.ts"],
    healthChecks: { users: "./src/ready.ts" },
  }),
};

describe("middleware and health checks that call procedures in development", () => {
  it("procedures that middleware calls run once on their nodes, whatever their access", async () => {
    const { get, logged } = await develop(files);
    expect(await get("/rpc/shop/counts")).toEqual({ status: 200, value: { own: 0, shared: 0 } });
    // Once for each of the two outside calls: middleware doesn't run around its own calls.
    expect((await get("/rpc/users/count")).value).toBe(2);
    expect((await get("/health/status")).value).toBe(true);
    expect(logged.filter((line) => line.startsWith("error"))).toEqual([]);
  });

  it("middleware gets the error that a procedure throws", async () => {
    const { session } = await develop(files);
    const answer = await fetch(`${session.url}/rpc/shop/counts`, {
      headers: { "x-user": "nobody" },
    });
    expect([answer.status, await answer.text()]).toEqual([
      403,
      "who are you?\n[users/find | v0.0.0]",
    ]);
  });

  it("an edit of middleware, and of a procedure that it calls, is live", async () => {
    const { get, edit } = await develop(files);
    expect((await get("/rpc/shop/counts")).status).toBe(200);
    edit("src/users/find.ts", "hour < 24", "hour > 24");
    expect(
      await eventually(
        async () => await get("/rpc/shop/counts"),
        ({ status }) => status === 500,
      ),
    ).toEqual({ status: 500, value: "closed" });
    edit("src/layer.ts", "!(await isOpen(12))", "await isOpen(12)");
    expect(
      (
        await eventually(
          async () => await get("/rpc/shop/counts"),
          ({ status }) => status === 200,
        )
      ).status,
    ).toBe(200);
  });
});
