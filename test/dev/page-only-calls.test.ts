// A server's call of a procedure that only pages have: a warning in terminal and page, while
// everything keeps running.

import { expect, it } from "vitest";

import { openPage } from "./_page.ts";
import { develop, eventually, shop } from "./_session.ts";

const message =
  '"shop/stock" in "store" (segments/store.segment.json) calls "ui/filter", which is only in "ui" (segments/ui.segment.json), for browsers: src/shop/stock.ts → src/ui/filter.ts';

it("a server's call of a procedure that only pages have is shown in the terminal and over all pages until it is fixed", async () => {
  const running = await develop(shop);
  const page = await openPage(running.session.url);
  const before = running.events.length;
  running.edit("src/shop/stock.ts", "return sku.length;", "return (await filter([sku])).length;");
  running.edit("src/shop/stock.ts", "import", 'import { filter } from "../ui/filter.ts";\nimport');
  const { problem } = await running.nextEvent("warning", before);
  expect(problem).toMatchObject({ file: "src/shop/stock.ts", line: 4, message });
  const overlay = await eventually(
    () => page.messages.find((message) => message.type === "error"),
    (message) => message !== undefined,
  );
  expect(overlay?.err).toMatchObject({
    message: expect.stringContaining(message),
    frame: expect.stringContaining("> 4 |"),
  });

  // The current sources still run.
  expect((await running.get("/rpc/shop/quote?sku=ab")).status).toBe(200);
  const answer = async () => String((await running.get("/rpc/shop/stock?sku=ab")).value);
  expect(await eventually(answer, (text) => text !== "2")).toContain(
    "it is only in segment 'ui', which browsers load",
  );
  const late = await openPage(running.session.url);
  await eventually(
    () => late.messages.some((message) => message.type === "error"),
    (isTold) => isTold,
  );
  expect(late.messages.find((message) => message.type === "error")?.err?.message).toContain(
    message,
  );

  running.edit("src/shop/stock.ts", "(await filter([sku])).length", "sku.length");
  const mended = () =>
    page.messages.some(
      (message) => message.type === "custom" && message.event === "seamline:mended",
    );
  expect(await eventually(mended, (isMended) => isMended)).toBe(true);
  page.close();
  late.close();
});
