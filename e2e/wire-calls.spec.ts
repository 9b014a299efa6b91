// Every call of the tables in Chromium, by fetch and by the page's client, through page → proxy →
// gateway → node and to one process. test/process/four-ways.test.ts covers the other ways.

import { expect, type Page, test } from "@playwright/test";
import type { HttpAnswer } from "../test/_call.ts";
import { allCases, comparable, runsIn } from "../test/_all-calls.ts";
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

const cases = allCases.filter((entry) => runsIn(entry, "in Chromium") > 0);
const nameOf = (entry: { ids: string; title: string }): string => `${entry.ids} ${entry.title}`;

for (const service of ["proxy", "standalone"] as const) {
  test(`${service}: a page's fetch requests get the tables' answers`, async ({ page }) => {
    await page.goto(`${cluster[service]}/plain.html`);
    const requests = cases.filter((entry) => entry.http);
    const found = await fetchAll(
      page,
      requests.map((entry) => entry.http!),
    );
    expect(requests.map((entry, at) => [nameOf(entry), comparable(found[at]!)])).toEqual(
      requests.map((entry) => [nameOf(entry), comparable(entry.answer!)]),
    );
  });

  test(`${service}: the page's client gets the tables' values and errors`, async ({ page }) => {
    await page.goto(`${cluster[service]}/plain.html`);
    await expect(page.locator("body")).toHaveAttribute("data-started", "true");
    const differences = await page.evaluate<Record<string, string>>("calls()");
    expect(Object.keys(differences)).toHaveLength(cases.filter((entry) => entry.client).length);
    expect(
      Object.fromEntries(Object.entries(differences).filter(([, difference]) => difference !== "")),
    ).toEqual({});
  });
}

/** Sends all requests from the page, 20 at a time. */
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
      // `fetch` would add a content type to a text.
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
