// A development server tells the contract of the sources as they are.

import { expect, it } from "vitest";

import { develop, eventually } from "./_session.ts";

const files = {
  "src/shop/order.ts":
    "export async function order(metres: number): Promise<number> { return metres; }\n",
  "shop.segment.json": '{ "./shop/order": { "order": { "access": "public" } } }',
};
const token = "a-token-of-twenty-letters";
const configured = (openapi: unknown): string =>
  JSON.stringify({ mode: "standalone", url: "http://127.0.0.1:3000", openapi });

it("The document follows an edit of a type", async () => {
  const { session, edit } = await develop({ ...files, "seamline.json": configured(true) });
  const types = async (): Promise<string | undefined> => {
    const answer = await fetch(`${session.url}/svc/openapi.json`);
    return /"metres":\{"type":"(\w+)"\}/.exec(await answer.text())?.[1];
  };
  expect(await types()).toBe("number");
  edit("src/shop/order.ts", "metres: number", "metres: string");
  expect(await eventually(types, (type) => type !== "number")).toBe("string");
});

it("It needs the token that the configuration names, and isn't there without the key", async () => {
  const guarded = await develop({ ...files, "seamline.json": configured({ token }) });
  const path = `${guarded.session.url}/svc/contract.json`;
  expect((await fetch(path)).status).toBe(401);
  const answer = await fetch(path, { headers: { authorization: `Bearer ${token}` } });
  expect(await answer.json()).toMatchObject({ procedures: [{ fqn: "shop/order" }] });
  const closed = await develop(files);
  expect((await fetch(`${closed.session.url}/svc/openapi.json`)).status).toBe(404);
});
