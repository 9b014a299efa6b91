// Values of another realm in a real page: those of an iframe, and a page whose libraries extend
// Object.prototype.

import { expect, type Page, test } from "@playwright/test";
import { createOrigin, type Origin } from "./_origin.ts";
import { deployTo, servePageAt, visitAt } from "./_plain.ts";

let origin: Origin;
test.beforeEach(async () => {
  origin = await createOrigin();
  deployTo(origin, "r1");
  origin.files.set("/rpc/shop/stock", () => ({
    text: "12",
    fields: { "x-svc-data-type": "number" },
  }));
});
test.afterEach(async () => await origin.close());

const output = (page: Page) => page.locator("output");

/** Opens a page that shows what `body` returns. */
async function open(page: Page, body: string): Promise<void> {
  servePageAt(
    origin,
    `const { stock } = await (await startClient()).import("./shop/stock.js"); ${body}`,
  );
  await visitAt(origin, page);
}

const cases = {
  Date: [
    "new other.Date(0)",
    '{"serialized":true,"name":"Date","value":"1970-01-01T00:00:00.000Z"}',
  ],
  Map: [
    'new other.Map([["a", 1]])',
    '{"serialized":true,"name":"Map","entries":{"keys":["a"],"values":[1]}}',
  ],
  Set: ["new other.Set([1])", '{"serialized":true,"name":"Set","values":[1]}'],
  URL: ['new other.URL("http://a.b/")', '{"serialized":true,"name":"Url","value":"http://a.b/"}'],
  ArrayBuffer: [
    "new other.Uint8Array([104]).buffer",
    '{"serialized":true,"name":"Binary","type":"ArrayBuffer","base64":"aA=="}',
  ],
  list: [
    "new other.Array(1, new other.Date(0))",
    '[1,{"serialized":true,"name":"Date","value":"1970-01-01T00:00:00.000Z"}]',
  ],
} as const;
for (const [kind, [value, form]] of Object.entries(cases))
  test(`a ${kind} of an iframe is sent as one of the page's own`, async ({ page }) => {
    const bodies: (string | null)[] = [];
    page.on("request", (request) => {
      if (request.url().includes("/rpc/")) bodies.push(request.postData());
    });
    await open(
      page,
      `const other = document.body.appendChild(document.createElement("iframe")).contentWindow;
       return await stock(${value});`,
    );
    await expect(output(page)).toHaveText("12");
    expect(bodies).toEqual([`{"sku":${form}}`]);
  });

test("a Blob, a File and a FormData of an iframe are sent as files", async ({ page }) => {
  await open(
    page,
    `const other = document.body.appendChild(document.createElement("iframe")).contentWindow;
     const form = new other.FormData();
     form.append("f", new other.File(["in a form"], "f.txt"));
     const { fetch } = globalThis;
     const sent = [];
     globalThis.fetch = async (url, init) => {
       if (init?.body instanceof Blob) sent.push(await init.body.text());
       return fetch(url, init);
     };
     for (const value of [new other.Blob(["blobs"]), new other.File(["filed"], "a.txt"), form])
       await stock(value);
     return sent.map((text) => /blobs|filed|in a form/.exec(text) + " " + /"fileName":"(.*?)"/.exec(text)?.[1]).join();`,
  );
  await expect(output(page)).toHaveText("blobs undefined,filed a.txt,in a form f.txt");
});

test("an answer with an instance is read in a page whose libraries extend Object.prototype", async ({
  page,
}) => {
  const manifest = JSON.parse(origin.files.get("/svc/manifest.json") as string) as {
    classes: unknown[];
    modules: Record<string, unknown>;
  };
  manifest.classes.push({
    key: "shop/Money",
    module: "shop/money",
    export: "Money",
    args: ["cents"],
    fields: ["revision"],
  });
  manifest.modules["shop/money"] = { file: "money-r1.js" };
  origin.files.set("/svc/manifest.json", JSON.stringify(manifest));
  origin.files.set("/rpc/shop/stock", () => ({
    text: '{"serialized":true,"name":"class","key":"shop/Money","args":{"0":1200},"fields":{"revision":"x"}}',
    fields: { "x-svc-data-type": "object", "x-svc-data-encoding": "serialized" },
  }));
  await open(
    page,
    `Object.prototype.extend = function () {};
     const money = await stock("A1");
     return money.constructor.name + " " + money.cents + " " + money.revision;`,
  );
  await expect(output(page)).toHaveText("Money 1200 x");
});
