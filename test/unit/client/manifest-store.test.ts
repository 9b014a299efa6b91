import { IDBFactory } from "fake-indexeddb";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { createManifestStore } from "../../../client/manifest-store.ts";
import { createBrowser, manifestOf } from "./_page.ts";

const { clock } = createBrowser({});

describe("the kept manifest", () => {
  beforeEach(() => vi.stubGlobal("indexedDB", new IDBFactory()));
  afterEach(() => vi.unstubAllGlobals());

  it("gives the next visit what the last one kept", async () => {
    await createManifestStore(clock).write(manifestOf({ revision: "r7" }));
    expect((await createManifestStore(clock).read())?.revision).toBe("r7");
  });

  it("has nothing on a first visit", async () => {
    expect(await createManifestStore(clock).read()).toBeUndefined();
  });

  it("forgets", async () => {
    const store = createManifestStore(clock);
    await store.write(manifestOf({ revision: "r2" }));
    await store.write(undefined);
    expect(await store.read()).toBeUndefined();
  });

  it("takes what another version of the client kept for nothing", async () => {
    await createManifestStore(clock).write({ ...manifestOf({}), format: 2 } as never);
    expect(await createManifestStore(clock).read()).toBeUndefined();
  });

  it("does without storage where there is none", async () => {
    vi.stubGlobal("indexedDB", undefined);
    const store = createManifestStore(clock);
    await store.write(manifestOf({}));
    await store.write(undefined);
    expect(await store.read()).toBeUndefined();
  });

  it("does without storage that is blocked", async () => {
    vi.stubGlobal("indexedDB", {
      open() {
        throw new DOMException("The operation is insecure.", "SecurityError");
      },
    });
    expect(await createManifestStore(clock).read()).toBeUndefined();
  });

  it("does without storage that never answers", async () => {
    vi.stubGlobal("indexedDB", { open: () => ({}) });
    const slow = createBrowser({});
    const reading = createManifestStore(slow.clock).read();
    slow.advance(1000);
    expect(await reading).toBeUndefined();
  });
});
