import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from "vitest";

import type { Application } from "../../../server/compile/cut/application.ts";
import type { DevEvent, Move } from "../../../server/dev/session.ts";
import { Settle } from "../../../server/dev/settle.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const file = "/app/office.segment.json";
const segment = new Set([file]);

/** The places of each procedure; empty if no segment file names it. */
type Places = Readonly<Record<string, string>>;

function application(places: Places): Application {
  const moduleOf = (fqn: string) => ({ id: fqn, file: `/app/src/${fqn}.ts` });
  const all = Object.keys(places);
  const parts = {
    places,
    root: "/app",
    procedures: all
      .filter((fqn) => places[fqn] !== "")
      .map((fqn) => ({
        fqn,
        module: moduleOf(fqn),
        export: "run",
        entries: [{ segment: { name: "office", file: "office.segment.json" } }],
      })),
    routes: [],
    modules: {
      get: (id: string) => (all.includes(id) ? moduleOf(id) : undefined),
      byFile: (path: string) => all.map(moduleOf).find((module) => module.file === path),
      describe: () => ({ exports: [{ name: "run" }] }),
    },
  };
  return parts as unknown as Application;
}

function movesBetween(before: Application, after: Application): readonly Move[] {
  const [from, to] = [before, after].map((of) => (of as unknown as { places: Places }).places);
  return Object.keys({ ...from, ...to })
    .filter((fqn) => from?.[fqn] !== to?.[fqn])
    .map((fqn) => ({ fqn, from: words(from?.[fqn]), to: words(to?.[fqn]) }));
}

const words = (text = ""): readonly string[] => text.split(" ").filter((word) => word !== "");

function watch() {
  const events: DevEvent[] = [];
  const applied: (readonly string[])[] = [];
  let apply = async (): Promise<void> => {};
  const settle = new Settle({
    async apply(files) {
      applied.push([...files]);
      await apply();
    },
    movesBetween,
    onEvent: (event) => events.push(event),
  });
  /** Each change goes from the application of the last one to the next. */
  let current: Places | undefined;
  const goTo = (next: Places, ms: number): void => {
    const [before, after] = [application(current ?? next), application(next)];
    settle.moved(before, after, movesBetween(before, after), ms);
    current = next;
  };
  return { events, applied, settle, goTo, whileApplying: (act: typeof apply) => (apply = act) };
}

const moved = (ms: number, ...procedures: readonly (readonly [string, string, string])[]) => ({
  kind: "moved",
  ms,
  procedures: procedures.map(([fqn, from, to]) => ({ fqn, from: words(from), to: words(to) })),
});

describe("changed files", () => {
  it("files that change while a change is applied are applied together, after it", async () => {
    const { settle, applied, whileApplying } = watch();
    let done = (): void => {};
    whileApplying(() => new Promise((resolve) => (done = resolve)));
    settle.add("/app/a.ts");
    await vi.advanceTimersByTimeAsync(5);
    for (const name of ["b", "c", "b"]) settle.add(`/app/${name}.ts`);
    await vi.advanceTimersByTimeAsync(1_000);
    expect(applied).toEqual([["/app/a.ts"]]);
    done();
    await vi.advanceTimersByTimeAsync(5);
    expect(applied).toEqual([["/app/a.ts"], ["/app/b.ts", "/app/c.ts"]]);
  });

  it("an export and its import that are saved together are applied together", async () => {
    const { settle, applied } = watch();
    settle.add("/app/a.ts");
    await vi.advanceTimersByTimeAsync(2);
    settle.add("/app/b.ts");
    await vi.advanceTimersByTimeAsync(3);
    expect(applied).toEqual([["/app/a.ts", "/app/b.ts"]]);
  });

  it("two segment files that are saved right after each other are applied together", async () => {
    const { settle, applied } = watch();
    settle.add("/app/a.segment.json");
    await vi.advanceTimersByTimeAsync(15);
    settle.add("/app/b.segment.json");
    await vi.advanceTimersByTimeAsync(5);
    expect(applied).toEqual([["/app/a.segment.json", "/app/b.segment.json"]]);
  });

  it("what fails between changes holds up none of them", async () => {
    const { settle, applied } = watch();
    const failing = settle.run(async () => await Promise.reject(new Error("no")));
    settle.add("/app/a.ts");
    await expect(failing).rejects.toThrow("no");
    await vi.advanceTimersByTimeAsync(5);
    expect(applied).toEqual([["/app/a.ts"]]);
  });

  it("a file that an editor has emptied is applied once it is written, or after 100 ms", async () => {
    const folder = mkdtempSync(join(tmpdir(), "settle-"));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const [saved, empty] = [join(folder, "saved.ts"), join(folder, "empty.ts")];
    for (const path of [saved, empty]) writeFileSync(path, "");
    const { settle, applied } = watch();
    settle.add(saved);
    await vi.advanceTimersByTimeAsync(45);
    expect(applied).toEqual([]);
    writeFileSync(saved, "export {};\n");
    await vi.advanceTimersByTimeAsync(10);
    expect(applied).toEqual([[saved]]);
    settle.add(empty);
    await vi.advanceTimersByTimeAsync(95);
    expect(applied).toHaveLength(1);
    await vi.advanceTimersByTimeAsync(10);
    expect(applied).toEqual([[saved], [empty]]);
  });
});

describe("a procedure moved by two saves", () => {
  it("a move by two saves is reported once, when the procedure has arrived", async () => {
    const { events, goTo } = watch();
    goTo({ quote: "office" }, 1);
    goTo({ quote: "office store" }, 12);
    await vi.advanceTimersByTimeAsync(100);
    expect(events).toEqual([]);
    goTo({ quote: "store" }, 9);
    await vi.runAllTimersAsync();
    expect(events).toEqual([moved(9, ["quote", "office", "store"])]);
  });

  it("the first save of a move is reported as an addition if no second save follows", async () => {
    const { events, goTo } = watch();
    goTo({ quote: "office" }, 1);
    goTo({ quote: "office store" }, 12);
    await vi.advanceTimersByTimeAsync(200);
    goTo({ quote: "store" }, 9);
    expect(events).toEqual([
      moved(12, ["quote", "office", "office store"]),
      moved(9, ["quote", "office store", "store"]),
    ]);
  });

  it("half a move that is taken back at once is not reported", async () => {
    const { events, goTo } = watch();
    goTo({ quote: "office" }, 1);
    goTo({ quote: "office store" }, 12);
    goTo({ quote: "office" }, 9);
    await vi.runAllTimersAsync();
    expect(events).toEqual([]);
  });

  it("halves of two procedures aren't reported as one move", async () => {
    const { events, goTo } = watch();
    goTo({ quote: "office", stock: "office store" }, 1);
    goTo({ quote: "office store", stock: "office store" }, 12);
    goTo({ quote: "office store", stock: "store" }, 9);
    await vi.runAllTimersAsync();
    expect(events).toEqual([
      moved(9, ["quote", "office", "office store"], ["stock", "office store", "store"]),
    ]);
  });

  it("an added procedure, and one that moves from one place to two others, is reported at once", () => {
    const { events, goTo } = watch();
    goTo({}, 1);
    goTo({ quote: "office" }, 12);
    goTo({ quote: "store page" }, 9);
    expect(events).toEqual([
      moved(12, ["quote", "", "office"]),
      moved(9, ["quote", "office", "store page"]),
    ]);
  });

  it("half a move is reported only once all earlier changes are live", async () => {
    const { events, goTo, settle } = watch();
    goTo({ quote: "office" }, 1);
    goTo({ quote: "office store" }, 12);
    let live = (): void => {};
    void settle.run(async () => await new Promise<void>((resolve) => (live = resolve)));
    await vi.advanceTimersByTimeAsync(1_000);
    expect(events).toEqual([]);
    // One of them is the second half.
    goTo({ quote: "store" }, 9);
    live();
    await vi.runAllTimersAsync();
    expect(events).toEqual([moved(9, ["quote", "office", "store"])]);
  });

  it("half a move isn't reported after the session has ended, even if it waits for a change", async () => {
    const { events, goTo, settle } = watch();
    goTo({ quote: "office" }, 1);
    goTo({ quote: "office store" }, 12);
    let live = (): void => {};
    void settle.run(async () => await new Promise<void>((resolve) => (live = resolve)));
    await vi.advanceTimersByTimeAsync(1_000);
    const closed = settle.close();
    goTo({ quote: "store", stock: "office" }, 9);
    goTo({ quote: "store", stock: "office store" }, 9);
    const before = events.length;
    live();
    await closed;
    await vi.runAllTimersAsync();
    expect(events.slice(before)).toEqual([]);
  });
});

describe("a procedure that no segment file names anymore", () => {
  const named = application({ quote: "office" });
  const unnamed = application({ quote: "" });
  const lost = (settle: Settle, changed = segment): boolean =>
    settle.waits(named, unnamed, changed);

  it("a move by two saves causes no warning in between", async () => {
    const { events, applied, settle } = watch();
    expect(lost(settle)).toBe(true);
    await vi.advanceTimersByTimeAsync(100);
    expect(settle.waits(named, named, segment)).toBe(false);
    await vi.runAllTimersAsync();
    expect([events, applied]).toEqual([[], []]);
  });

  it("it stays where it is for ten seconds, with one warning, and the next one for another ten", async () => {
    const { events, applied, settle } = watch();
    expect(lost(settle)).toBe(true);
    await vi.advanceTimersByTimeAsync(200);
    expect(events).toEqual([
      {
        kind: "warning",
        problem: {
          file: "office.segment.json",
          message:
            "no segment file names quote any more: it stays where it is for 10 s, for another one to name it",
        },
      },
    ]);
    expect(lost(settle)).toBe(true);
    await vi.advanceTimersByTimeAsync(9_700);
    expect(lost(settle)).toBe(true);
    expect(applied).toEqual([]);
    await vi.advanceTimersByTimeAsync(200);
    expect(applied).toEqual([[file]]);
    expect(events).toHaveLength(1);
    expect(lost(settle)).toBe(false);
    expect(lost(settle)).toBe(true);
  });

  it("it waits for nothing when a module is edited, or when its function is gone", () => {
    const { settle } = watch();
    expect(lost(settle)).toBe(true);
    expect(lost(settle, new Set([file, "/app/src/quote.ts"]))).toBe(false);
    expect(settle.waits(named, application({}), segment)).toBe(false);
  });

  it("a session that ends neither warns nor reads again", async () => {
    const { events, applied, settle } = watch();
    lost(settle);
    await settle.close();
    await vi.runAllTimersAsync();
    expect([events, applied]).toEqual([[], []]);
  });
});
