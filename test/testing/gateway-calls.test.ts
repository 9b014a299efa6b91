import { expect, it } from "vitest";

import { createTestCluster } from "../../server/testing/index.ts";
import { createFixture } from "../build/_fixture.ts";

const files = {
  "segments/users.segment.json":
    '{ "./users": { "userOf": { "access": "protected" }, "secret": { "access": "private" } } }',
  "segments/shop.segment.json": '{ "./shop": { "orders": { "access": "public" } } }',
  "src/users.ts": `import { getContext } from "seamline";
export async function userOf(session: string): Promise<string> {
  getContext().response.cookies.set("seen", session);
  return "user of " + session;
}
export async function secret(): Promise<string> {
  return "private";
}
`,
  "src/shop.ts": `import { getContext } from "seamline";
export async function orders(): Promise<unknown> {
  return getContext().locals;
}
`,
  "src/layer.ts": `import { getContext } from "seamline";
import { secret, userOf } from "./users.ts";
export default {
  async handle(_fqn: string, _version: unknown, _args: unknown, _headers: unknown, next: () => Promise<unknown>) {
    const { cookies, locals } = getContext();
    Object.assign(locals, { user: await userOf(cookies.get("session") ?? ""), secret: await secret() });
    return await next();
  },
};
`,
};

it("configured middleware of a test cluster's gateway calls procedures of its nodes, fakes too", async () => {
  const { root } = createFixture(files);
  await using cluster = await createTestCluster({
    root,
    config: { middleware: ["./src/layer.ts"] },
  });
  const headers = { cookie: "session=s1" };
  const answer = await cluster.fetch("/rpc/orders", { headers });
  expect(await answer.json()).toEqual({ user: "user of s1", secret: "private" });
  expect(answer.headers.getSetCookie()).toEqual([
    "seen=s1; Path=/; HttpOnly; Secure; SameSite=Lax",
  ]);
  // A restarted gateway is another service.
  cluster.gateway.kill();
  await cluster.gateway.start();
  using _fake = cluster.fake("userOf", () => "a fake");
  await cluster.clock.pass(10_000);
  expect(await (await cluster.fetch("/rpc/orders", { headers })).json()).toMatchObject({
    user: "a fake",
  });
});

it("such middleware calls a procedure that only a fake holds", async () => {
  const layer = files["src/layer.ts"].replace(", secret: await secret()", "");
  const { root } = createFixture({ ...files, "src/layer.ts": layer });
  await using cluster = await createTestCluster({
    root,
    nodes: { shop: ["shop"] },
    config: { middleware: ["./src/layer.ts"] },
  });
  expect((await cluster.fetch("/rpc/orders")).status).toBe(503);
  using _fake = cluster.fake("userOf", () => "a fake");
  expect(await (await cluster.fetch("/rpc/orders")).json()).toEqual({ user: "a fake" });
});
