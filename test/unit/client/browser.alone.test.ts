import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";

import { browser } from "../../../client/browser.ts";

const url = "https://shop.example/quote.js";

afterEach(() => {
  vi.unstubAllGlobals();
  vi.useRealTimers();
});

/** The parts of a document that the client uses; `end` settles the link that was added last. */
function stubDocument({ preloads = true, sheets = [] as readonly string[] } = {}) {
  const head: Record<string, unknown>[] = [];
  const added: Record<string, unknown>[] = [];
  const link = () => {
    const element = {
      relList: { supports: (rel: string) => preloads && rel === "modulepreload" },
      remove: () => void head.splice(head.indexOf(element), 1),
    };
    return element;
  };
  vi.stubGlobal("document", {
    createElement: link,
    head: {
      append(element: Record<string, unknown>) {
        head.push(element);
        added.push(element);
      },
    },
    styleSheets: sheets.map((href) => ({ href })),
    querySelector: (selector: string) =>
      selector === "meta[name=seamline-revision]" ? { content: "r7" } : null,
  });
  const end = (event: "onload" | "onerror"): void =>
    (added.at(-1) as Record<typeof event, (event: unknown) => void>)[event](new Error(event));
  return { head, added, end };
}

function stubFetch(ok: boolean) {
  const requests: unknown[] = [];
  vi.stubGlobal("fetch", async (...request: unknown[]) => {
    requests.push(request);
    return { ok, status: ok ? 200 : 404 };
  });
  return requests;
}

describe("browser.preload of a module", () => {
  it("a page preloads it with a link that carries its digest and is removed afterwards", async () => {
    const { head, added, end } = stubDocument();
    const requests = stubFetch(true);
    const loaded = browser.preload(url, "sha256-x");
    expect(head).toHaveLength(1);
    expect(added[0]).toMatchObject({ rel: "modulepreload", href: url, integrity: "sha256-x" });
    end("onload");
    await loaded;
    expect([head, requests]).toEqual([[], []]);
  });

  it("rejects and removes the link if the module fails to load", async () => {
    const { head, end } = stubDocument();
    const loaded = browser.preload(url, "sha256-x");
    end("onerror");
    await expect(loaded).rejects.toThrow("onerror");
    expect(head).toEqual([]);
  });

  it.each([
    ["a worker without a document", () => undefined],
    ["a browser without modulepreload", () => void stubDocument({ preloads: false })],
  ])("in %s the module is fetched with its digest", async (_, prepare) => {
    prepare();
    const requests = stubFetch(true);
    await browser.preload(url, "sha256-x");
    expect(requests).toEqual([[url, { integrity: "sha256-x" }]]);
  });

  it("rejects if the answer's status isn't a success", async () => {
    stubFetch(false);
    await expect(browser.preload(url, "sha256-x")).rejects.toThrow("status 404");
  });
});

describe("browser.preload of a style sheet", () => {
  const sheet = "https://shop.example/quote.css";

  it("a page adds the style sheet and leaves it in the document", async () => {
    const { head, end } = stubDocument();
    const loaded = browser.preload(sheet, "sha256-x");
    expect(head[0]).toMatchObject({ rel: "stylesheet", href: sheet, integrity: "sha256-x" });
    end("onload");
    await loaded;
    expect(head).toHaveLength(1);
  });

  it("a page that has the style sheet already requests nothing", async () => {
    const { added } = stubDocument({ sheets: [sheet] });
    await browser.preload(sheet, "sha256-x");
    expect(added).toEqual([]);
  });

  it("a worker ignores style sheets", async () => {
    const requests = stubFetch(true);
    await browser.preload(sheet, "sha256-x");
    expect(requests).toEqual([]);
  });
});

describe("browser.revision", () => {
  it("revision is what the build wrote into the page, and undefined in a worker", () => {
    expect(browser.revision).toBeUndefined();
    stubDocument();
    expect(browser.revision).toBe("r7");
  });
});

describe("browser.clock", () => {
  beforeEach(() => void vi.useFakeTimers());

  it("a timer runs once after its delay, and not at all if it is cancelled", () => {
    const ran: string[] = [];
    browser.clock.after(100, () => ran.push("kept"));
    browser.clock.after(100, () => ran.push("cancelled"))();
    vi.advanceTimersByTime(99);
    expect(ran).toEqual([]);
    vi.advanceTimersByTime(1_000);
    expect(ran).toEqual(["kept"]);
  });
});
