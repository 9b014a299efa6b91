// Every call of the tables in Chromium: requests by fetch from a page, and the same calls by its client; page → proxy → gateway → node, and
// one process. test/process/four-ways.test.ts makes them in the other ways.

import { expect, type Page, test } from "@playwright/test";
import type { HttpAnswer } from "../test/_call.ts";
import { allCases, comparable, runsIn } from "../test/_ways.ts";
import type { Application } from "../test/process/_application.ts";
import { copyWire, startWire, type WireCluster } from "./wire-application.ts";

let application: Application;
let cluster: WireCluster;

test.describe.configure({ mode: "default" });
test.beforeAll(async () => {
  application = await copyWire();
  cluster = await startWire(application);
});
test.afterAll(() => application?.remove());

const made = allCases.filter((one) => runsIn(one, "in Chromium") > 0);
const nameOf = (one: { ids: string; title: string }): string => `${one.ids} ${one.title}`;

for (const service of ["proxy", "standalone"] as const) {
  test(`${service}: requests of a page get the answers of the tables`, async ({ page }) => {
    await page.goto(`${cluster[service]}/plain.html`);
    const requests = made.filter((one) => one.http);
    const found = await fetchAll(
      page,
      requests.map((one) => one.http!),
    );
    expect(requests.map((one, at) => [nameOf(one), comparable(found[at]!)])).toEqual(
      requests.map((one) => [nameOf(one), comparable(one.answer!)]),
    );
  });

  test(`${service}: the page's client gets values and errors of the tables`, async ({ page }) => {
    await page.goto(`${cluster[service]}/plain.html`);
    await expect(page.locator("body")).toHaveAttribute("data-started", "true");
    const differences = await page.evaluate<Record<string, string>>("calls()");
    expect(Object.keys(differences)).toHaveLength(made.filter((one) => one.client).length);
    expect(Object.fromEntries(Object.entries(differences).filter(([, one]) => one !== ""))).toEqual(
      {},
    );
  });
}

/** Sends all of them from the page, some at a time. */
async function fetchAll(
  page: Page,
  calls: readonly {
    method?: string;
    path: string;
    headers?: Readonly<Record<string, string>>;
    body?: string;
  }[],
): Promise<readonly HttpAnswer[]> {
  return await page.evaluate(async (all) => {
    const send = async ({ method = "GET", path, headers = {}, body }: (typeof all)[number]) => {
      // Text would get a content type from `fetch`.
      const bytes = body ? { body: new TextEncoder().encode(body) } : {};
      const response = await fetch(path, { method, headers, ...bytes });
      const text = new TextDecoder("utf-8", { ignoreBOM: true }).decode(
        await response.arrayBuffer(),
      );
      return { status: response.status, headers: Object.fromEntries(response.headers), body: text };
    };
    const answers: HttpAnswer[] = [];
    for (let at = 0; at < all.length; at += 20)
      answers.push(...(await Promise.all(all.slice(at, at + 20).map(send))));
    return answers;
  }, calls);
}
