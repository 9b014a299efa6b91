import { IDBFactory } from "fake-indexeddb";
import { http, HttpResponse } from "msw";
import { setupServer } from "msw/node";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { createManifestStore } from "../../../client/manifest-store.ts";
import { createRevisions } from "../../../client/revisions.ts";
import { BadGateway, FileNotFound } from "../../../src/errors.ts";
import { createBrowser, manifestOf, origin } from "./_page.ts";

const service = setupServer();
const url = `${origin}/svc/manifest.json`;
const store = () => createManifestStore(createBrowser({}).clock);
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
  it("is the fresh one on a first visit, which is kept for the second", async () => {
    answers("r1");
    expect(await revisionIn(open())).toBe("r1");
    await vi.waitFor(async () => expect((await store().read())?.revision).toBe("r1"));
  });

  it("is asked for past every cache that did not ask the service", async () => {
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

  it("is the kept one while the request for the fresh one is held back", async () => {
    await store().write(manifestOf({ revision: "r1" }));
    service.use(http.get(url, () => new Promise<never>(() => {})));
    expect(await revisionIn(open())).toBe("r1");
    expect(await revisionIn(open("r1"))).toBe("r1");
  });

  it("is never the kept one when the page is of another build", async () => {
    await store().write(manifestOf({ revision: "r1" }));
    answers("r2");
    expect(await revisionIn(open("r2"))).toBe("r2");
  });

  it("changes at the visit after the one that found a newer one behind", async () => {
    await store().write(manifestOf({ revision: "r1" }));
    answers("r2");
    const second = open();
    expect(await revisionIn(second)).toBe("r1");
    await vi.waitFor(async () => expect((await store().read())?.revision).toBe("r2"));
    expect(await revisionIn(second)).toBe("r1");
    expect(await revisionIn(open())).toBe("r2");
  });

  it("is the fresh one, once more from the start, when a kept one names what has gone", async () => {
    await store().write(manifestOf({ revision: "r1" }));
    answers("r2");
    const used: string[] = [];
    const page = open();
    await page.use(async (manifest, kept) => {
      used.push(`${manifest.revision} ${kept ? "kept" : "fresh"}`);
      if (kept) throw new FileNotFound("gone");
    });
    expect(used).toEqual(["r1 kept", "r2 fresh"]);
    expect(await revisionIn(page)).toBe("r2");
  });

  it("is the fresh one for the next visit too, even if that was kept before the old one turned out to be gone", async () => {
    await store().write(manifestOf({ revision: "r1" }));
    answers("r2");
    const page = open();
    await page.use(async (_, isKept) => {
      if (!isKept) return;
      await vi.waitFor(async () => expect((await store().read())?.revision).toBe("r2"));
      throw new FileNotFound("gone");
    });
    await vi.waitFor(async () => expect((await store().read())?.revision).toBe("r2"));
  });

  it("is not tried twice when the fresh one names what is not there", async () => {
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

  it("stays when what runs with it fails for another reason", async () => {
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

  it("is forgotten when it names what has gone, even if no fresh one can be had", async () => {
    await store().write(manifestOf({ revision: "r1" }));
    service.use(http.get(url, () => HttpResponse.error()));
    await expect(
      open().use(async () => {
        throw new FileNotFound("gone");
      }),
    ).rejects.toThrow(BadGateway);
    expect(await store().read()).toBeUndefined();
  });

  it("is the kept one without a network, and the page says that it could not ask", async () => {
    await store().write(manifestOf({ revision: "r1" }));
    service.use(http.get(url, () => HttpResponse.error()));
    const browser = createBrowser({});
    expect(await revisionIn(createRevisions(browser, () => {}))).toBe("r1");
    await vi.waitFor(() =>
      expect(browser.warnings).toEqual(["could not ask for a newer revision"]),
    );
  });

  it.each([
    ["a status", () => new HttpResponse(null, { status: 503 }), /status 503/],
    ["a page in its place", () => HttpResponse.html("<!doctype html>"), /JSON|token/],
    ["JSON that is no manifest", () => HttpResponse.json({}), /no manifest/],
  ])(
    "fails with a reason for %s, and is asked for again at the next start",
    async (_, answer, reason) => {
      service.use(http.get(url, answer));
      const page = open();
      await expect(revisionIn(page)).rejects.toThrow(reason);
      answers("r1");
      expect(await revisionIn(page)).toBe("r1");
    },
  );
});
