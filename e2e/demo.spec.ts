import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { type Page, test } from "@playwright/test";
import { copyDemo, type DemoRun, freePorts, runDemo } from "./demo-application.ts";
import { expect, openCloth, placesOf, search, settled } from "./demo-steps.ts";

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

let copy: ReturnType<typeof copyDemo>;
let demo: DemoRun;
let url = "";

test.beforeAll(async () => {
  test.setTimeout(90_000);
  copy = copyDemo();
  demo = runDemo(copy.folder, await freePorts());
  url = await demo.opened;
});

test.afterAll(async () => {
  await demo?.interrupt();
  copy?.remove();
});

test.afterEach(async () => {
  const info = test.info();
  if (info.status !== info.expectedStatus)
    await info.attach("what the demo said", {
      body: demo?.output() ?? "nothing",
      contentType: "text/plain",
    });
});

test.beforeEach(async ({ page }) => {
  page.on("pageerror", (error) =>
    expect.soft(error, "nothing is thrown that nobody catches").toBeUndefined(),
  );
});

test.setTimeout(120_000);

const sku = "TA-4873";

test.describe("the shop over a cluster", () => {
  test("the shelf's data comes from three places: search on node A, stock on node B, ranking in the page", async ({
    page,
  }) => {
    await page.goto(url);
    await settled(page);
    await expect(page.getByRole("status")).toHaveText("5,000 cloths");
    await expect(page.locator(".card")).toHaveCount(24);
    expect(await placesOf(page)).toEqual({
      rank: "This browser",
      search: "node A",
      swatch: "node A",
      stockLevels: "node B",
    });
    await expect(page.locator("#latest li").first()).toContainText(" ms");
  });

  test("the shop searches while the user types, and ranks the answer", async ({ page }) => {
    await page.goto(url);
    await page.getByRole("searchbox").pressSequentially("gingham indigo", { delay: 20 });
    await expect(page.getByRole("heading", { level: 1 })).toHaveText("“gingham indigo”");
    await settled(page);
    for (const card of await page.locator(".card").all())
      await expect(card).toContainText(/Gingham.*Indigo/is);
    await search(page, "merino under 60");
    const prices = await page.locator(".card .price").allTextContents();
    expect(prices.length).toBeGreaterThan(0);
    for (const price of prices) expect(Number(/[\d.]+/.exec(price)?.[0])).toBeLessThanOrEqual(60);
    await search(page, "no such cloth");
    await expect(page.getByText("No cloth goes by these words")).toBeVisible();
  });

  for (const [what, late] of [
    ["its script is there", /\/assets\/index-[^/]*\.js$/],
    ["it has started", /\/svc\/manifest\.json$/],
  ] as const) {
    test(`the shop searches for what was typed before ${what}`, async ({ page }) => {
      let release = (): void => undefined;
      const held = new Promise<void>((resolve) => (release = resolve));
      await page.route(late, async (route) => {
        await held;
        await route.continue();
      });
      await page.goto(url, { waitUntil: "commit" });
      await page.getByRole("searchbox").pressSequentially("gingham");
      release();
      await expect(page.getByRole("heading", { level: 1 })).toHaveText("“gingham”");
      await settled(page);
      await expect(page.getByRole("searchbox")).toHaveValue("gingham");
    });
  }

  test("the shelf shows the answer to the last search even if an older one arrives later", async ({
    page,
  }) => {
    await page.goto(url);
    await settled(page);
    let release = (): void => undefined;
    const held = new Promise<void>((resolve) => (release = resolve));
    await page.route("**/rpc/shop/search*", async (route) => {
      if (route.request().postData()?.includes("tartan")) await held;
      await route.continue();
    });
    await page.getByRole("searchbox").fill("tartan");
    await page.waitForRequest((request) => request.postData()?.includes("tartan") === true);
    await search(page, "denim");
    const late = page.waitForResponse(
      (response) => response.request().postData()?.includes("tartan") === true,
    );
    release();
    await (await late).finished();
    await expect(page.locator(".card .name").first()).toContainText("Denim");
    await expect(page.getByRole("heading", { level: 1 })).toHaveText("“denim”");
  });

  test("a failed search shows an error, and can be tried again", async ({ page }) => {
    await page.goto(url);
    await settled(page);
    await page.route("**/rpc/shop/search*", (route) => route.abort());
    await page.getByRole("searchbox").fill("linen");
    await expect(page.getByRole("alert")).toContainText("That did not work");
    await page.unroute("**/rpc/shop/search*");
    await page.getByRole("button", { name: "Try again" }).click();
    await settled(page);
    await expect(page.locator(".card").first()).toBeVisible();
  });

  test("the shelf shows even if the warehouse doesn't answer", async ({ page }) => {
    await page.route("**/rpc/shop/stockLevels*", (route) => route.abort());
    await page.goto(url);
    await settled(page);
    await expect(page.locator(".card")).toHaveCount(24);
    await expect(page.locator(".stock").first()).toHaveText("Stock unknown");
    await expect(page.locator("#latest .failed")).toContainText("stockLevels");
  });

  test("a cloth arrives as an instance of its class, with private fields, a date and a map", async ({
    page,
  }) => {
    await page.goto(url);
    await openCloth(page, sku);
    await expect(page.getByRole("heading", { level: 1 })).toContainText("Tartan");
    await expect(page.locator(".about > .price")).toHaveText(/^€\d+\.\d\d a metre$/);
    const facts = page.locator(".facts div");
    await expect(facts.filter({ hasText: "Weave" })).toContainText("2/2 twill");
    await expect(facts.filter({ hasText: "Here since" })).toHaveText(
      /\d+ \w+ 202\d \((?:Winter|Spring|Summer|Autumn) 202\d\)/,
    );
  });

  test("a missing cloth rejects with the application's own NotFound", async ({ page }) => {
    await page.goto(`${url}#/cloth/XX-0000`);
    await expect(page.getByRole("heading", { level: 1 })).toHaveText("No such cloth");
    await expect(page.locator("main")).toContainText("Nothing here goes by the number XX-0000");
  });

  test("a swatch is a picture that a procedure returned", async ({ page }) => {
    await page.goto(url);
    await openCloth(page, sku);
    const picture = page.locator(".cloth .swatch img");
    expect(
      await picture.evaluate((image: HTMLImageElement) => [
        image.src.slice(0, 5),
        image.naturalWidth,
      ]),
    ).toEqual(["blob:", 540]);
    expect((await placesOf(page))["swatch"]).toBe("node A");
  });

  test("a quote, made by node A with node B, follows the number of metres", async ({ page }) => {
    await page.goto(url);
    await openCloth(page, sku);
    await page.getByLabel("Metres").fill("10");
    await expect(page.locator("#quote")).toContainText("for 10 m, 5 % off");
    await expect(page.locator("#quote")).toContainText(/m on the roll|The roll has only|sold out/);
    expect(await placesOf(page)).toMatchObject({ quote: "node A", deliveryDay: "node B" });
    await page.getByLabel("Metres").fill("1.5");
    await expect(page.locator("#quote")).toHaveText(
      "Cloth is cut in whole metres from 1 to 500, not 1.5",
    );
  });

  test("a failed order throws the application's own class in the page, with its fields and trace", async ({
    page,
  }) => {
    await page.goto(url);
    await openCloth(page, sku);
    await page.getByLabel("Metres").fill("400");
    await expect(page.locator("#quote")).toContainText("for 400 m");
    await page.getByRole("button", { name: "Order now" }).click();
    const alert = page.getByRole("alert");
    await expect(alert.getByRole("heading")).toHaveText(/^Only \d+ m left on this roll$/);
    await alert.getByText("The error as it arrived").click();
    await expect(alert).toContainText("instanceof OutOfStock");
    await expect(alert.locator(".arrived dd").filter({ hasText: "shop/" })).toHaveText([
      "[shop/reserve | v0.0.0]",
      "[shop/placeOrder | v0.0.0]",
    ]);
    await expect(page.locator("#latest .failed")).toContainText("OutOfStock");
    expect((await placesOf(page))["placeOrder"]).toBe("node B");
  });

  test("a basket can be filled and ordered, and its total is computed in the page", async ({
    page,
  }) => {
    await page.goto(url);
    for (const [one, metres] of [
      [sku, "1"],
      ["HB-3232", "5"],
    ] as const) {
      await openCloth(page, one);
      await page.getByLabel("Metres").fill(metres);
      await page.getByRole("button", { name: "Add to basket" }).click();
    }
    await page.getByRole("link", { name: "Basket 2" }).click();
    await settled(page);
    await expect(page.locator(".lines li")).toHaveCount(2);
    await expect(page.locator(".sums")).toContainText("You save");
    expect((await placesOf(page))["basketTotals"]).toBe("This browser");
    await page.getByRole("button", { name: "Place the order" }).click();
    await expect(page.getByRole("heading", { name: /^Order S-1\d+ is placed$/ })).toBeVisible();
    await expect(page.getByRole("link", { name: "Basket 0" })).toBeVisible();
  });

  test("the shop works by keyboard alone", async ({ page }) => {
    await page.goto(url);
    await settled(page);
    const press = async (...keys: readonly string[]): Promise<void> => {
      for (const key of keys) await page.keyboard.press(key);
    };
    await press("Tab");
    await expect(page.getByRole("link", { name: "Skip to the cloths" })).toBeFocused();
    await press("Tab", "Tab");
    await expect(page.getByRole("searchbox")).toBeFocused();
    await page.keyboard.type("houndstooth");
    await expect(page.getByRole("heading", { level: 1 })).toHaveText("“houndstooth”");
    await settled(page);
    const ideas = await page.locator(".ideas a").count();
    await press("Tab", ...Array.from({ length: ideas }, () => "Tab"), "Tab");
    await expect(page.locator(".card .name").first()).toBeFocused();
    await press("Enter");
    await expect(page.getByRole("heading", { level: 1 })).toBeFocused();
    await expect(page.locator("#quote .sum")).toBeVisible();
    await press("Tab");
    await expect(page.getByLabel("Metres")).toBeFocused();
    await page.keyboard.type("9");
    await expect(page.locator("#quote")).toContainText("for 9 m");
    await press("Tab", "Tab");
    await expect(page.getByRole("button", { name: "Order now" })).toBeFocused();
    await press("Enter");
    await expect(page.locator(".notice")).toBeVisible();
  });
});

for (const [device, viewport] of [
  ["a telephone", { width: 390, height: 844 }],
  ["a desk", { width: 1280, height: 800 }],
] as const) {
  for (const colorScheme of ["light", "dark"] as const) {
    test.describe(`on ${device}, ${colorScheme}`, () => {
      test.use({ viewport, colorScheme });

      test("the shop has no axe violation, no horizontal overflow and no layout shift", async ({
        page,
      }) => {
        await page.addInitScript(() => {
          const shifts: number[] = [];
          new PerformanceObserver((list) =>
            shifts.push(
              ...list
                .getEntries()
                .map((entry) => (entry as PerformanceEntry & { value: number }).value),
            ),
          ).observe({ type: "layout-shift", buffered: true });
          Object.assign(window, { shifts });
        });
        await page.goto(url);
        await settled(page);
        expect(
          await page.evaluate(() =>
            (window as unknown as { shifts: number[] }).shifts.reduce((sum, one) => sum + one, 0),
          ),
        ).toBeLessThan(0.02);
        await check(page, "the shelf");
        await search(page, "nothing like this");
        await check(page, "an empty shelf");
        await openCloth(page, sku);
        await check(page, "a cloth");
        await page.getByLabel("Metres").fill("400");
        await expect(page.locator("#quote")).toContainText("for 400 m");
        await page.getByRole("button", { name: "Order now" }).click();
        await page.getByText("The error as it arrived").click();
        await check(page, "an error");
        await page.getByRole("button", { name: "Add to basket" }).click();
        await page.getByRole("link", { name: "See the basket" }).click();
        await settled(page);
        if (viewport.width < 400)
          await page.getByRole("button", { name: "Where each call ran" }).click();
        await check(page, "the basket and the strip");
      });
    });
  }
}

async function check(page: Page, what: string): Promise<void> {
  await page.evaluate(axe);
  // axe measures colours, so transitions must have ended.
  await page.evaluate(() =>
    Promise.all(
      document.getAnimations().map((animation) => animation.finished.catch(() => undefined)),
    ),
  );
  const violations = await page.evaluate(async () => {
    const { axe: engine } = window as unknown as {
      axe: { run(): Promise<{ violations: { id: string; nodes: { html: string }[] }[] }> };
    };
    return (await engine.run()).violations.map(
      ({ id, nodes }) => `${id}: ${nodes.map((node) => node.html).join(" ")}`,
    );
  });
  expect(violations, what).toEqual([]);
  expect(
    await page.evaluate(() => document.documentElement.scrollWidth - innerWidth),
    `${what} scrolls sideways`,
  ).toBeLessThanOrEqual(0);
}

test("a plain page calls the same procedures without a bundler", async ({ page }) => {
  await page.goto(`${url}plain.html`);
  await expect(page.locator("body")).toHaveAttribute("data-done", "true");
  await expect(page.locator("dt")).toHaveText([
    "search, on node A",
    "quote, on node A",
    "basketTotals, on this browser",
    "placeOrder, on node B",
  ]);
  await expect(page.locator("dd").nth(0)).toHaveText(
    /tartans; the newest is .* at €[\d.]+ \(\w+ 202\d\)/,
  );
  await expect(page.locator("dd").nth(3)).toHaveText(/^OutOfStock: \d+ m left, 500 m wanted$/);
});
