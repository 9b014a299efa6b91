// A page changes the arguments of a call after it, when the page has loaded the code that encodes
// them.

import { afterEach, expect, it, vi } from "vitest";

import { createPageRemote, type Page } from "../../../client/remote.ts";
import { withHeaders } from "../../../client/options.ts";
import { createBrowser } from "./_page.ts";

afterEach(() => vi.unstubAllGlobals());

/** Calls the seam of `shop/order(lines)`, and returns the bodies that are sent. */
function openPage(more: Partial<Page> = {}): {
  order: (lines: unknown) => Promise<unknown>;
  bodies: unknown[];
} {
  const bodies: unknown[] = [];
  vi.stubGlobal("fetch", async (_: string, { body }: { body: unknown }) => {
    bodies.push(body);
    return new Response("1", {
      headers: { "content-type": "application/json", "x-svc-data-type": "number" },
    });
  });
  const page = {
    browser: createBrowser({}),
    placement: { report: () => {} },
    rare: async () => ({ withHeaders }),
    ...more,
  } as unknown as Page;
  const order = createPageRemote(page).away({
    fqn: "shop/order",
    version: "0.0.0",
    parameters: [{ kind: "plain", name: "lines" }],
  });
  return { order: async (lines) => await order.call(undefined, lines as never), bodies };
}

it("a call sends its arguments as they were when it was made", async () => {
  const { order, bodies } = openPage();
  const cart = [{ cloth: "tweed" }, { cloth: "linen" }];
  const ordered = order(cart);
  cart.length = 0;
  await ordered;
  expect(bodies).toEqual(['{"lines":[{"cloth":"tweed"},{"cloth":"linen"}]}']);
});

it("a call whose headers the page waits for sends its arguments as they were before", async () => {
  const { order, bodies } = openPage({ headers: async () => ({ "x-a": "b" }) });
  const cart = ["tweed", "linen"];
  const ordered = order(cart);
  cart.length = 0;
  await ordered;
  expect(bodies).toEqual(['{"lines":["tweed","linen"]}']);
});

it("so does a call of other values, once the codec is loaded", async () => {
  const { order, bodies } = openPage();
  await order(new Date(0));
  const dates = [new Date(0)];
  const ordered = order(dates);
  dates[0]?.setTime(1);
  await ordered;
  expect(bodies[1]).toContain("1970-01-01T00:00:00.000Z");
});
