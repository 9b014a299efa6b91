// `checked` in a segment file with no further word: the names of parameters come from the function inside.

import { symlinkSync } from "node:fs";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";

import { createTestCluster } from "../../server/testing/index.ts";
import { InvalidParameterValue } from "../../src/base/errors.ts";
import { createFixture, type Files } from "../build/_fixture.ts";
import { root } from "../_sources.ts";
import { shop } from "./_shop.ts";

const typed = `import { checked } from "seamline";
import { z } from "zod";
const schema = z.object({
  email: z.email(),
  lines: z.array(z.object({ sku: z.string().min(1), metres: z.number() })),
});
export const order = checked(schema, async (order) => order.email + order.lines.length);
export const find = checked(z.coerce.number().int(), async (id: number, unit = "m") => [id, unit]);
export const due = checked(z.string().transform(Number), async (day: number) => day + 1);
export const rename = checked(z.object({ from: z.string() }), async ({ from }) => from);
`;

const segment = JSON.stringify({
  "./shop/order": Object.fromEntries(
    // The package has no types here, so its `checked` gives the functions none.
    ["order", "find", "due", "rename"].map((name) => [name, { access: "public", validate: false }]),
  ),
  "./shop/desk": { sell: { access: "public" } },
});
const desk = `import { order } from "./order.EXT";
export async function sell(email) {
  return await order({ email, lines: [] });
}
`;

async function clusterOf(files: Files) {
  const { "package.json": manifest, ...packages } = shop;
  const application = createFixture({
    "package.json": manifest!,
    ...Object.fromEntries(
      Object.entries(packages).filter(([name]) => name.startsWith("node_modules/")),
    ),
    "index.html": "<!doctype html><title>shop</title>",
    ...files,
  });
  symlinkSync(join(root, "node_modules/zod"), application.path("node_modules/zod"), "junction");
  const cluster = await createTestCluster({ root: application.root });
  onTestFinished(async () => await cluster.stop());
  return cluster;
}

it.each([
  ["TypeScript", "ts"],
  ["JavaScript", "js"],
])("checked procedures of a %s application answer 400 with paths", async (_, extension) => {
  const text =
    extension === "ts" ? typed : typed.replaceAll(": number)", ")").replaceAll(": number,", ",");
  const cluster = await clusterOf({
    [`src/shop/order.${extension}`]: text,
    [`src/shop/desk.${extension}`]: desk
      .replace("EXT", extension)
      .replace("(email)", extension === "ts" ? "(email: string)" : "(email)"),
    "shop.segment.json": segment,
  });
  const post = async (name: string, args: object): Promise<[number, string]> => {
    const answer = await cluster.fetch(`/rpc/shop/${name}`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(args),
    });
    // Trace lines follow, as after each error of a procedure.
    return [answer.status, (await answer.text()).replaceAll(/\n\[.*\]$/gm, "")];
  };
  const line = { sku: "felt", metres: 2 };
  expect(await post("order", { order: { email: "ada@example.org", lines: [line] } })).toEqual([
    200,
    "ada@example.org1",
  ]);
  expect(await post("order", { order: { email: "ada", lines: [{ ...line, sku: "" }] } })).toEqual([
    400,
    "order.email: Invalid email address\norder.lines[0].sku: Too small: expected string to have >=1 characters",
  ]);
  expect(await post("order", {})).toEqual([400, "Missing value for parameter 'order'"]);
  expect(await post("rename", { from: "a" })).toEqual([200, "a"]);

  // From a query the schema gets its text, no matter what the function's annotation says.
  expect((await cluster.fetch("/rpc/shop/due?day=7")).status).toBe(200);
  expect(await (await cluster.fetch("/rpc/shop/find?id=7&unit=yd")).json()).toEqual([7, "yd"]);
  const refused = await cluster.fetch("/rpc/shop/find?id=x");
  expect(refused.status).toBe(400);
  expect(await refused.text()).toMatch(/^id: Invalid input: expected number, received NaN\n/);

  // The error travels, from a page and between procedures.
  const { order } = await cluster.page.import<{
    order: (order: unknown) => Promise<string>;
  }>("./shop/order");
  const error: unknown = await order({ email: 1, lines: [] }).catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(InvalidParameterValue);
  expect(error).toHaveProperty(
    "message",
    "order.email: Invalid input: expected string, received number",
  );
  expect(await post("sell", { email: "ada" })).toEqual([400, "order.email: Invalid email address"]);
});
