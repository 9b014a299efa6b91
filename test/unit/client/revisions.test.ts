import { IDBFactory } from "fake-indexeddb";
import { http, HttpResponse } from "msw";
import { setupServer } from "msw/node";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { createManifestStore } from "../../../client/manifest-store.ts";
import { createRevisions } from "../../../client/revisions.ts";
import { BadGateway, FileNotFound } from "../../../src/base/errors.ts";
import { createBrowser, manifestOf, origin } from "./_page.ts";

const service = setupServer();
const url = `${origin}/svc/manifest.json`;
const store = () => createManifestStore(createBrowser({}).clock, origin);
const revisionIn = async (visit: ReturnType<typeof createRevisions>) =>
  await visit.use(async (manifest) => manifest.revision);
const answers = (revision: string) =>
  service.use(http.get(url, () => HttpResponse.json(manifestOf({ revision }))));
const open = (revision?: string) => createRevisions(createBrowser({}, revision), () => {});

beforeAll(() => service.listen({ onUnhandledRequest: "error" }));
beforeEach(() => vi.stubGlobal("indexedDB", new IDBFactory()));
afterEach(() => {
  vi.unstubAllGlobals();
  service.resetHandlers();
});
afterAll(() => service.close());

describe("the revision that a page runs", () => {
  it("a first visit runs the fresh revision and caches it for the second", async () => {
    answers("r1");
    expect(await revisionIn(open())).toBe("r1");
    await expect.poll(async () => (await store().read())?.revision).toBe("r1");
  });

  it("the manifest's request revalidates HTTP caches", async () => {
    let cache: string | undefined;
    service.use(
      http.get(url, ({ request }) => {
        cache = request.cache;
        return HttpResponse.json(manifestOf({}));
      }),
    );
    await revisionIn(open());
    expect(cache).toBe("no-cache");
  });

  it("a second visit runs the cached revision without waiting for the fresh one", async () => {
    await store().write(manifestOf({ revision: "r1" }));
    service.use(http.get(url, () => new Promise<never>(() => {})));
    expect(await revisionIn(open())).toBe("r1");
    expect(await revisionIn(open("r1"))).toBe("r1");
  });

  it("a built page ignores a cached revision of another build", async () => {
    await store().write(manifestOf({ revision: "r1" }));
    answers("r2");
    expect(await revisionIn(open("r2"))).toBe("r2");
  });

  it("a plain page changes to a newer revision on the visit after it was fetched", async () => {
    await store().write(manifestOf({ revision: "r1" }));
    answers("r2");
    const second = open();
    expect(await revisionIn(second)).toBe("r1");
    await expect.poll(async () => (await store().read())?.revision).toBe("r2");
    expect(await revisionIn(second)).toBe("r1");
    expect(await revisionIn(open())).toBe("r2");
  });

  it("the page starts again with the fresh revision if a file of the cached one is gone", async () => {
    await store().write(manifestOf({ revision: "r1" }));
    answers("r2");
    const used: string[] = [];
    const page = open();
    await page.use(async (manifest, isCached) => {
      used.push(`${manifest.revision} ${isCached ? "cached" : "fresh"}`);
      if (isCached) throw new FileNotFound("gone");
    });
    expect(used).toEqual(["r1 cached", "r2 fresh"]);
    expect(await revisionIn(page)).toBe("r2");
  });

  it("the fresh revision stays cached even if it was stored before the old one was dropped", async () => {
    await store().write(manifestOf({ revision: "r1" }));
    answers("r2");
    const page = open();
    await page.use(async (_, isCached) => {
      if (!isCached) return;
      await expect.poll(async () => (await store().read())?.revision).toBe("r2");
      throw new FileNotFound("gone");
    });
    await expect.poll(async () => (await store().read())?.revision).toBe("r2");
  });

  it("a fresh revision with a missing file isn't tried twice", async () => {
    answers("r1");
    const gone = new FileNotFound("gone");
    let tries = 0;
    await expect(
      open().use(async () => {
        tries++;
        throw gone;
      }),
    ).rejects.toBe(gone);
    expect(tries).toBe(1);
  });

  it("the cached revision isn't dropped for any error but NotFound", async () => {
    await store().write(manifestOf({ revision: "r1" }));
    answers("r2");
    const page = open();
    await expect(
      page.use(async () => {
        throw new Error("the module's own");
      }),
    ).rejects.toThrow("the module's own");
    expect(await revisionIn(page)).toBe("r1");
  });

  it("a cached revision with a missing file is dropped even if the fresh one can't be fetched", async () => {
    await store().write(manifestOf({ revision: "r1" }));
    service.use(http.get(url, () => HttpResponse.error()));
    await expect(
      open().use(async () => {
        throw new FileNotFound("gone");
      }),
    ).rejects.toThrow(BadGateway);
    expect(await store().read()).toBeUndefined();
  });

  it("without a network the page runs the cached revision and logs a warning", async () => {
    await store().write(manifestOf({ revision: "r1" }));
    service.use(http.get(url, () => HttpResponse.error()));
    const browser = createBrowser({});
    expect(await revisionIn(createRevisions(browser, () => {}))).toBe("r1");
    await expect.poll(() => browser.warnings).toEqual(["can't check revision"]);
  });

  it.each([
    ["a status", () => new HttpResponse(null, { status: 503 }), /status 503/],
    ["a page in its place", () => HttpResponse.html("<!doctype html>"), /JSON|token/],
    ["JSON that isn't a manifest", () => HttpResponse.json({}), /no manifest/],
  ])(
    "a start that gets %s fails and says why, and the next start fetches the manifest again",
    async (_, answer, reason) => {
      service.use(http.get(url, answer));
      const page = open();
      await expect(revisionIn(page)).rejects.toThrow(reason);
      answers("r1");
      expect(await revisionIn(page)).toBe("r1");
    },
  );
});
