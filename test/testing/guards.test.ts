// Guards in a test cluster: calls from outside meet them, and calls of the test itself don't.

import { setupServer } from "msw/node";
import { expect, it, onTestFinished } from "vitest";

import { mswHandlers } from "../../client/testing/msw.ts";
import { createTestCluster, readManifest } from "../../server/testing/index.ts";
import { createFixture, type Files } from "../build/_fixture.ts";
import { shop, type Quote } from "./_shop.ts";

const guarded: Files = {
  ...shop,
  "src/auth.ts": `import { getContext, Unauthorized } from "seamline";
export class NotSignedIn extends Unauthorized {
  readonly tried = true;
}
export async function signedIn(): Promise<void> {
  const { headers, cookies } = getContext();
  if (headers.get("authorization") === undefined && cookies.get("session") === undefined)
    throw new NotSignedIn("Sign in first");
}
`,
  "segments/shop.segment.json": JSON.stringify({
    $guard: "./auth#signedIn",
    "./shop/quote": {
      quote: { access: "public" },
      total: { access: "public", guard: false },
      whoAsks: { access: "protected" },
    },
  }),
};

async function cluster() {
  const started = await createTestCluster({ root: createFixture(guarded).root });
  onTestFinished(async () => await started.stop());
  return started;
}

it("cluster.page and cluster.fetch meet guards", async () => {
  const all = await cluster();
  const { page } = all;
  const { quote } = await page.import<Quote>("./shop/quote");
  for (const call of [
    () => quote("felt"),
    () => page.runProcedure("shop/quote", "", { sku: "felt" }),
  ])
    await expect(call()).rejects.toMatchObject({
      message: "Sign in first",
      tried: true,
    });
  expect((await all.fetch("/rpc/shop/quote?sku=felt")).status).toBe(401);
  page.cookies.set("session", "s1");
  expect((await quote("felt")).cents).toBeGreaterThan(0);
  const signedIn = await all.fetch("/rpc/shop/quote?sku=felt", {
    headers: { authorization: "Bearer 1" },
  });
  expect(signedIn.status).toBe(200);
});

it("cluster.import, runProcedure and calls of nodes don't", async () => {
  const all = await cluster();
  const { quote } = await all.import<Quote>("./shop/quote");
  expect((await quote("felt")).cents).toBeGreaterThan(0);
  await expect(all.runProcedure("shop/quote", "", { sku: "felt" })).resolves.toBeDefined();
  await expect(
    all.node("shop").runProcedure("shop/quote", "", { sku: "felt" }),
  ).resolves.toBeDefined();
});

it("a faked procedure keeps its guard, whether a node of the cluster holds it or not", async () => {
  const root = createFixture(guarded).root;
  for (const nodes of [undefined, { warehouse: "warehouse" }]) {
    const all = await createTestCluster({ root, ...(nodes && { nodes }) });
    onTestFinished(async () => await all.stop());
    all.fake("shop/quote", async () => "faked");
    const call = () => all.page.runProcedure("shop/quote", "", { sku: "felt" });
    await expect(call()).rejects.toThrow("Sign in first");
    all.page.cookies.set("session", "s1");
    expect(await call()).toBe("faked");
    expect(await all.runProcedure("shop/quote", "", { sku: "felt" })).toBe("faked");
  }
});

it("fakes of msw stand in for the services, guards included", async () => {
  const manifest = readManifest({ root: createFixture(guarded).root });
  const server = setupServer(
    ...mswHandlers(
      { manifest, url: "http://shop.test" },
      {
        "shop/quote": async () => "faked",
      },
    ),
  );
  server.listen();
  onTestFinished(() => server.close());
  const answer = await fetch("http://shop.test/rpc/shop/quote?sku=felt");
  expect([answer.status, await answer.text()]).toEqual([200, "faked"]);
});
