import { expect, it, vi } from "vitest";

import { following } from "../../../client/development/page.ts";
import { createPageRemote, type Page } from "../../../client/remote.ts";
import { emptyContext } from "../../../src/base/context.ts";
import { createBrowser } from "./_page.ts";

it("In development the page's console warns once of each member of arguments that didn't arrive", async () => {
  const lines: unknown[] = [];
  vi.spyOn(console, "warn").mockImplementation((line) => void lines.push(line));
  let dropped = "";
  vi.stubGlobal("fetch", async () => {
    const fields = { "content-type": "text/plain", "x-svc-data-type": "string" };
    const warning = dropped && { "x-svc-dropped": encodeURIComponent(dropped) };
    return new Response("done", { headers: { ...fields, ...warning } });
  });
  try {
    const page = {
      browser: createBrowser({}),
      placement: { report: () => {} },
      revisions: { use: async () => undefined },
    } as unknown as Page;
    const hot = { on: () => {}, send: () => {} };
    const order = following(
      createPageRemote,
      hot,
    )(page).away({
      fqn: "shop/order",
      version: "0.0.0",
      parameters: [],
    });
    for (dropped of [
      "",
      "shop/order doesn't get lines[0].isAdmin: no type names it",
      "shop/order doesn't get lines[12].isAdmin: no type names it",
      "shop/order doesn't get due.ⅷ: no type names it",
    ])
      expect(await order.call(emptyContext())).toBe("done");
    expect(lines).toEqual([
      "Seamline: shop/order doesn't get lines[0].isAdmin: no type names it",
      "Seamline: shop/order doesn't get due.ⅷ: no type names it",
    ]);
  } finally {
    vi.unstubAllGlobals();
    vi.restoreAllMocks();
  }
});
