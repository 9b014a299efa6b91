// Every wire case in a real browser: page → proxy → gateway → node and back, through seams and by
// name, in bundled and plain pages.

import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, type Page, test } from "@playwright/test";
import type { Application } from "../test/process/_application.ts";
import { wireCases } from "../test/_wire-cases.ts";
import { frameworkErrors } from "../src/base/errors.ts";
import type { Caught, Checks, Report } from "./wire/src/checks/checks.ts";
import { copyWire, startWire, type WireCluster } from "./wire-application.ts";

let application: Application;
let cluster: WireCluster;

test.describe.configure({ mode: "default" });
test.beforeAll(async () => {
  application = await copyWire();
  cluster = await startWire(application);
});
test.afterAll(() => application?.remove());
test.beforeEach(
  ({ page }) =>
    void page.on("pageerror", (error) =>
      expect.soft(error, "the page has no uncaught error").toBeUndefined(),
    ),
);
test.afterEach(async () => {
  const info = test.info();
  if (info.status !== info.expectedStatus)
    await info.attach("output of the services", {
      body: cluster?.output() ?? "nothing",
      contentType: "text/plain",
    });
});

type Service = "proxy" | "standalone";
type Api = "checks" | "checksByName";

async function open(page: Page, service: Service, path: string): Promise<void> {
  await page.goto(cluster[service] + path);
  await expect(page.locator("body")).toHaveAttribute("data-started", "true");
}

const run = async <T>(
  page: Page,
  api: Api,
  check: keyof Checks,
  ...args: readonly string[]
): Promise<T> =>
  await page.evaluate(
    async ([name, act, words]) =>
      await (
        globalThis as unknown as Record<
          string,
          Record<string, (...more: readonly string[]) => Promise<T>>
        >
      )[name]![act]!(...words),
    [api, check, args] as const,
  );

/** The entries of a report that have a difference. */
const wrong = (report: Report): Report =>
  Object.fromEntries(Object.entries(report).filter(([, difference]) => difference !== ""));

for (const [title, path, api] of [
  ["a bundled page, through its imports", "/", "checks"],
  ["a plain page, through client.import", "/plain.html", "checks"],
  ["a plain page, through runProcedure", "/plain.html", "checksByName"],
] as const)
  test.describe(title, () => {
    test("every value arrives unchanged, there and back", async ({ page }) => {
      await open(page, "proxy", path);
      const report = await run<Report>(page, api, "values");
      expect(Object.keys(report)).toHaveLength(2 * wireCases.length);
      expect(wrong(report)).toEqual({});
      // Calls whose arguments a node refuses report the node too.
      const places = ["wire/echo remote node one", "wire/example remote node one"];
      expect(await page.evaluate("[...places].toSorted()")).toEqual(places);
    });

    test("every error arrives as an instance of its class, with message, fields and trace", async ({
      page,
    }) => {
      await open(page, "proxy", path);
      const report = await run<Report>(page, api, "errors");
      expect(Object.keys(report).toSorted()).toEqual(
        [...frameworkErrors.keys(), "OutOfStock", "Refused"].toSorted(),
      );
      expect(wrong(report)).toEqual({});
    });

    for (const service of ["proxy", "standalone"] as const)
      test(`${service}: all kinds of parameters work, an error's trace has three procedures, and a private one isn't found`, async ({
        page,
      }) => {
        await open(page, service, path);
        expect(await run(page, api, "kinds")).toEqual({ all: "", defaults: "" });
        // One process and three hops over two nodes have the same trace, the origin first.
        const trace = ["third", "second", "first"].map((name) => `[wire/${name} | v0.0.0]`);
        const thrown = await Promise.all(
          ["OutOfStock", "no entry", "text"].map((how) => run<Caught>(page, api, "threeHops", how)),
        );
        expect(thrown).toEqual([
          { name: "OutOfStock", message: "Nothing left of tea", trace, own: true },
          { name: "Forbidden", message: "no entry", trace, own: true },
          { name: "Error", message: "text", trace, own: true },
        ]);
        // A face reveals only the name that the page's own code uses.
        const message =
          api === "checksByName"
            ? "Procedure 'wire/hidden' v0.0.0 not found"
            : "Procedure 'hidden' not found: pages can't call it";
        expect(await run(page, api, "hidden")).toEqual({
          name: "ProcedureNotFound",
          message,
          trace: [],
          own: true,
        });
      });
  });

test("the comparison detects every kind of difference", async ({ page }) => {
  await open(page, "proxy", "/");
  expect(await run(page, "checks", "blindSpots")).toEqual([]);
});

test("runProcedure of an unknown procedure throws the page's own ProcedureNotFound", async ({
  page,
}) => {
  for (const service of ["proxy", "standalone"] as const) {
    await open(page, service, "/plain.html");
    const found = await page.evaluate(`(async () => {
      const { ProcedureNotFound, runProcedure } = await import("/svc/client.js");
      return await runProcedure("wire/nothing", "1.2", {}).catch((error) => [error instanceof ProcedureNotFound, error.message]);
    })()`);
    expect(found, service).toEqual([true, "Procedure 'wire/nothing' v1.2.0 not found"]);
  }
});

test("the node's log has the line of TypeScript that threw, and the page doesn't get it", async ({
  page,
}) => {
  await open(page, "proxy", "/plain.html");
  const stack = await page.evaluate<string>(`(async () => {
    const { runProcedure } = await import("/svc/client.js");
    return await runProcedure("wire/fail", "0.0.0", { name: "Refused" }).catch((error) => error.stack);
  })()`);
  expect(stack).not.toMatch(/wire\.ts|seamline-application/);
  const file = join(application.root, "src/wire/wire.ts");
  const place = /Refused: no\n[^\n]*\((.*):(\d+):\d+\)\n/;
  await expect.poll(() => cluster.output()).toMatch(place);
  const [, named, line] = place.exec(cluster.output()) ?? [];
  expect(named).toBe(file);
  expect((await readFile(file, "utf8")).split("\n")[Number(line) - 1]).toContain(
    "throw new Refused",
  );
});
