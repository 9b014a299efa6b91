import { IDBFactory } from "fake-indexeddb";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { createManifestStore } from "../../../client/manifest-store.ts";
import { createBrowser, manifestOf } from "./_page.ts";

const { clock } = createBrowser({});

describe("the manifest store", () => {
  beforeEach(() => vi.stubGlobal("indexedDB", new IDBFactory()));
  afterEach(() => vi.unstubAllGlobals());

  it("returns the manifest that the last visit stored", async () => {
    await createManifestStore(clock).write(manifestOf({ revision: "r7" }));
    expect((await createManifestStore(clock).read())?.revision).toBe("r7");
  });

  it("is empty on a first visit", async () => {
    expect(await createManifestStore(clock).read()).toBeUndefined();
  });

  it("writing undefined removes the stored manifest", async () => {
    const store = createManifestStore(clock);
    await store.write(manifestOf({ revision: "r2" }));
    await store.write(undefined);
    expect(await store.read()).toBeUndefined();
  });

  it("ignores a manifest of another format", async () => {
    await createManifestStore(clock).write({ ...manifestOf({}), format: 2 } as never);
    expect(await createManifestStore(clock).read()).toBeUndefined();
  });

  it("reads undefined if there is no IndexedDB", async () => {
    vi.stubGlobal("indexedDB", undefined);
    const store = createManifestStore(clock);
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
    expect(await createManifestStore(clock).read()).toBeUndefined();
  });

  it("reads undefined if storage doesn't answer within a second", async () => {
    vi.stubGlobal("indexedDB", { open: () => ({}) });
    const slow = createBrowser({});
    const reading = createManifestStore(slow.clock).read();
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
    const store = createManifestStore(counting);
    await store.write(manifestOf({}));
    await store.read();
    expect(open).toBe(0);
  });
});
