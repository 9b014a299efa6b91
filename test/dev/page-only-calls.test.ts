// A server's call of a procedure that only pages have, while one works: told in the terminal and over the page, and everything goes on.

import { expect, it } from "vitest";

import { openPage } from "./_page.ts";
import { develop, eventually, shop } from "./_session.ts";

const message =
  '"shop/stock" in "store" (segments/store.segment.json) calls "ui/filter", which is only in "ui" (segments/ui.segment.json), for browsers: src/shop/stock.ts → src/ui/filter.ts';

it("it is told in the terminal and over open pages, and over those that come, until it is mended", async () => {
  const running = await develop(shop);
  const page = await openPage(running.session.url);
  const before = running.events.length;
  running.edit("src/shop/stock.ts", "return sku.length;", "return (await filter([sku])).length;");
  running.edit("src/shop/stock.ts", "import", 'import { filter } from "../ui/filter.ts";\nimport');
  const { problem } = await running.told("warning", before);
  expect(problem).toMatchObject({ file: "src/shop/stock.ts", line: 4, message });
  const overlay = await eventually(
    () => page.told.find((one) => one.type === "error"),
    (one) => one !== undefined,
  );
  expect(overlay?.err).toMatchObject({
    message: expect.stringContaining(message),
    frame: expect.stringContaining("> 4 |"),
  });

  // Everything goes on: it is what the sources say.
  expect((await running.get("/rpc/shop/quote?sku=ab")).status).toBe(200);
  const answer = async () => String((await running.get("/rpc/shop/stock?sku=ab")).value);
  expect(await eventually(answer, (text) => text !== "2")).toContain(
    "it is only in segment 'ui', which browsers load",
  );
  const late = await openPage(running.session.url);
  await eventually(
    () => late.told.some((one) => one.type === "error"),
    (isTold) => isTold,
  );
  expect(late.told.find((one) => one.type === "error")?.err?.message).toContain(message);

  running.edit("src/shop/stock.ts", "(await filter([sku])).length", "sku.length");
  const mended = () =>
    page.told.some((one) => one.type === "custom" && one.event === "seamline:mended");
  expect(await eventually(mended, (isMended) => isMended)).toBe(true);
  page.close();
  late.close();
});
