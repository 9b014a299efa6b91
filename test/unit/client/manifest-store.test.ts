import { IDBFactory } from "fake-indexeddb";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { createManifestStore } from "../../../client/manifest-store.ts";
import { createBrowser, manifestOf } from "./_page.ts";

const { clock } = createBrowser({});
const shop = "https://example.org/shop";

describe("the manifest store", () => {
  beforeEach(() => vi.stubGlobal("indexedDB", new IDBFactory()));
  afterEach(() => vi.unstubAllGlobals());

  it("returns the manifest that the last visit stored", async () => {
    await createManifestStore(clock, shop).write(manifestOf({ revision: "r7" }));
    expect((await createManifestStore(clock, shop).read())?.revision).toBe("r7");
  });

  it("is empty on a first visit", async () => {
    expect(await createManifestStore(clock, shop).read()).toBeUndefined();
  });

  it("has a manifest for each application of an origin", async () => {
    await createManifestStore(clock, shop).write(manifestOf({ revision: "r7" }));
    const other = createManifestStore(clock, "https://example.org");
    expect(await other.read()).toBeUndefined();
    await other.write(manifestOf({ revision: "r2" }));
    expect((await createManifestStore(clock, shop).read())?.revision).toBe("r7");
  });

  it("writing undefined removes the stored manifest", async () => {
    const store = createManifestStore(clock, shop);
    await store.write(manifestOf({ revision: "r2" }));
    await store.write(undefined);
    expect(await store.read()).toBeUndefined();
  });

  it("ignores a manifest of another format", async () => {
    await createManifestStore(clock, shop).write({ ...manifestOf({}), format: 2 } as never);
    expect(await createManifestStore(clock, shop).read()).toBeUndefined();
  });

  it("reads undefined if there is no IndexedDB", async () => {
    vi.stubGlobal("indexedDB", undefined);
    const store = createManifestStore(clock, shop);
    await store.write(manifestOf({}));
    await store.write(undefined);
    expect(await store.read()).toBeUndefined();
  });

  it("reads undefined if storage is blocked", async () => {
    vi.stubGlobal("indexedDB", {
      open() {
        throw new DOMException("The operation is insecure.", "SecurityError");
      },
    });
    expect(await createManifestStore(clock, shop).read()).toBeUndefined();
  });

  it("reads undefined if storage doesn't answer within a second", async () => {
    vi.stubGlobal("indexedDB", { open: () => ({}) });
    const slow = createBrowser({});
    const reading = createManifestStore(slow.clock, shop).read();
    slow.advance(1000);
    expect(await reading).toBeUndefined();
  });
});

describe("the manifest store's timeout", () => {
  beforeEach(() => vi.stubGlobal("indexedDB", new IDBFactory()));
  afterEach(() => vi.unstubAllGlobals());

  it("is cancelled once storage has answered", async () => {
    let open = 0;
    const counting = {
      ...clock,
      after: () => {
        open++;
        return () => void open--;
      },
    };
    const store = createManifestStore(counting, shop);
    await store.write(manifestOf({}));
    await store.read();
    expect(open).toBe(0);
  });
});
