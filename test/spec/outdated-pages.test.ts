// A page that was opened before a deploy: its manifest, and the event that it is outdated.

import { http, HttpResponse } from "msw";
import { setupServer } from "msw/node";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import type { Outdated } from "../../client/index.ts";
import { createRevisions } from "../../client/revisions.ts";
import { createBrowser, manifestOf, origin } from "../unit/client/_page.ts";

const service = setupServer();
/** The revisions that pages asked for; `null` for the current one. */
let asked: (string | null)[];
let told: Outdated[];

/** The deployed revision, and those before it that are still served. */
const deploy = (current: string, ...earlier: readonly string[]): void =>
  service.use(
    http.get(`${origin}/svc/manifest.json`, ({ request }) => {
      const revision = new URL(request.url).searchParams.get("revision");
      asked.push(revision);
      const isServed = revision !== null && earlier.includes(revision);
      return HttpResponse.json(manifestOf({ revision: isServed ? revision : current }));
    }),
  );

beforeAll(() => service.listen({ onUnhandledRequest: "error" }));
beforeEach(() => {
  asked = [];
  told = [];
  const window = new EventTarget();
  window.addEventListener("seamline:outdated", (event) =>
    told.push((event as CustomEvent<Outdated>).detail),
  );
  vi.stubGlobal("dispatchEvent", (event: Event) => window.dispatchEvent(event));
  // Once for each load of a page.
  vi.resetModules();
});
afterEach(() => {
  vi.unstubAllGlobals();
  service.resetHandlers();
});
afterAll(() => service.close());

/** A page of a build, which reads answers to calls. */
async function openPage(revision: string | undefined) {
  const browser = createBrowser({}, revision);
  const revisions = createRevisions(browser, () => {});
  await revisions.use(async () => {});
  const { createPageCodec } = await import("../../client/codec.ts");
  const files = { add() {}, preload: async () => {}, import: async () => ({}) };
  const page = { browser, revisions, files, rare: () => import("../../client/rare.ts") };
  const codec = createPageCodec(page);
  asked = [];
  return {
    browser,
    /** Reads an error's answer, and waits until the page has looked at its revision, if it does. */
    async fails(error: string, status = 404, body = "") {
      const headers = { "content-type": "text/plain", "x-svc-error": error };
      await expect(
        (async () => codec.decode({ status, headers, body: new TextEncoder().encode(body) }))(),
      ).rejects.toThrow();
      await vi.dynamicImportSettled();
      await new Promise((resolve) => setTimeout(resolve, 20));
    },
  };
}

describe("a page that was opened before a deploy", () => {
  it("revisions-9: a built page asks for the manifest of its own build, and gets it while that is served", async () => {
    deploy("new", "old");
    const revisions = createRevisions(createBrowser({}, "old"), () => {});
    expect(await revisions.use(async ({ revision }) => revision)).toBe("old");
    expect(asked).toEqual(["old"]);
    // A page that no build made takes the current one.
    const plain = createRevisions(createBrowser({}), () => {});
    expect(await plain.use(async ({ revision }) => revision)).toBe("new");
    expect(asked).toEqual(["old", null]);
  });

  it.each([
    ["a procedure or version that is gone", "ProcedureNotFound", 404],
    ["a parameter that is gone", "UnknownParameter", 400],
    ["a parameter that is required now", "MissingParameterValue", 400],
    ["a class that has changed", "InvalidSerializedValue", 400],
  ])(
    "revisions-10: a call of an outdated page that can't go on dispatches 'seamline:outdated' on the window, with both revisions: %s",
    async (_, error, status) => {
      deploy("new", "old");
      const page = await openPage("old");
      await page.fails(error, status);
      expect(told).toEqual([{ revision: "old", current: "new" }]);
      expect(asked).toEqual([null]);
    },
  );

  it("an answer with a class that isn't in the page's build is such a call (revisions-10)", async () => {
    deploy("new", "old");
    const page = await openPage("old");
    await page.fails(
      "",
      200,
      '{"serialized":true,"name":"class","key":"shop/New","args":{},"fields":{}}',
    );
    expect(told).toHaveLength(1);
  });

  it("revisions-11: the event comes once for each load of a page", async () => {
    deploy("new", "old");
    const page = await openPage("old");
    for (let time = 0; time < 3; time++) {
      await page.fails("ProcedureNotFound");
      page.browser.advance(60_000);
    }
    expect(told).toHaveLength(1);
    expect(asked).toHaveLength(1);
  });

  it("revisions-12: a page of the deployed build is never told, and looks for another one once in ten seconds at most", async () => {
    deploy("new");
    const page = await openPage("new");
    for (let time = 0; time < 3; time++) await page.fails("ProcedureNotFound");
    expect([told, asked.length]).toEqual([[], 1]);
    deploy("newer");
    page.browser.advance(10_000);
    await page.fails("ProcedureNotFound");
    expect(told).toEqual([{ revision: "new", current: "newer" }]);
  });

  it.each([
    ["an error of a procedure", "Forbidden", 403],
    ["no node", "NodeNotAvailable", 503],
    ["a call that a procedure made", "ProcedureNotFound", 500],
    ["a wrong value", "InvalidParameterValue", 400],
  ])("other errors say nothing about the build (revisions-12): %s", async (_, error, status) => {
    deploy("new", "old");
    const page = await openPage("old");
    await page.fails(error, status);
    expect([told, asked]).toEqual([[], []]);
  });

  it("a page that no build made is outdated when its manifest is (revisions-10), and one in development never is", async () => {
    deploy("first");
    const plain = await openPage(undefined);
    deploy("second");
    await plain.fails("ProcedureNotFound");
    expect(told).toEqual([{ revision: "first", current: "second" }]);
    vi.resetModules();
    const edited = await openPage("development-x-1");
    await edited.fails("ProcedureNotFound");
    expect(told).toHaveLength(1);
  });

  it("a page that can't reach its service is told by a later call (revisions-10)", async () => {
    deploy("old");
    const page = await openPage("old");
    service.use(http.get(`${origin}/svc/manifest.json`, () => HttpResponse.error()));
    await page.fails("ProcedureNotFound");
    deploy("new");
    page.browser.advance(10_000);
    await page.fails("ProcedureNotFound");
    expect(told).toEqual([{ revision: "old", current: "new" }]);
  });
});
