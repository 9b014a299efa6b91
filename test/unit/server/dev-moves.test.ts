import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";

import type { Application } from "../../../server/build/application.ts";
import { Moves } from "../../../server/dev/moves.ts";
import { Orphans } from "../../../server/dev/orphans.ts";
import type { Move } from "../../../server/dev/session.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const move = (from: string, to: string, fqn = "shop/quote"): Move => ({
  fqn,
  from: from.split(" "),
  to: to.split(" "),
});

function listen() {
  const told: { readonly moves: readonly Move[]; readonly ms: number }[] = [];
  const settled = async (): Promise<void> => {};
  return { told, moves: new Moves((some, ms) => told.push({ moves: some, ms }), settled) };
}

describe("a move by two saves", () => {
  it("is told once, when it is where it was meant to be", async () => {
    const { told, moves } = listen();
    moves.add([move("office", "office store")], 12);
    await vi.advanceTimersByTimeAsync(100);
    expect(told).toEqual([]);
    moves.add([move("office store", "store")], 9);
    await vi.runAllTimersAsync();
    expect(told).toEqual([{ moves: [move("office", "store")], ms: 9 }]);
  });

  it("is told as what it was so far, when no second one follows", async () => {
    const { told, moves } = listen();
    moves.add([move("office", "office store"), move("office", "store", "shop/stock")], 12);
    expect(told).toEqual([{ moves: [move("office", "store", "shop/stock")], ms: 12 }]);
    await vi.advanceTimersByTimeAsync(200);
    moves.add([move("office store", "store")], 9);
    expect(told.slice(1).map((one) => one.moves)).toEqual([
      [move("office", "office store")],
      [move("office store", "store")],
    ]);
  });

  it("is told as both, when it ends where it began", () => {
    const { told, moves } = listen();
    moves.add([move("office", "office store")], 12);
    moves.add([move("office store", "office")], 9);
    expect(told.map((one) => one.moves)).toEqual([
      [move("office", "office store"), move("office store", "office")],
    ]);
  });

  it("is told no more when the session has ended", async () => {
    const { told, moves } = listen();
    moves.add([move("office", "office store")], 12);
    moves.close();
    await vi.runAllTimersAsync();
    expect(told).toEqual([]);
  });

  it("gives no warning between them that no file names it", async () => {
    const warned: unknown[] = [];
    const again: string[] = [];
    const orphans = new Orphans(
      (event) => warned.push(event),
      (file) => again.push(file),
    );
    const segment = new Set(["/app/office.segment.json"]);
    expect(orphans.wait(application(true), application(false), segment)).toBe(true);
    await vi.advanceTimersByTimeAsync(100);
    expect(orphans.wait(application(true), application(true), segment)).toBe(false);
    await vi.runAllTimersAsync();
    expect([warned, again]).toEqual([[], []]);
    expect(orphans.wait(application(true), application(false), segment)).toBe(true);
    await vi.advanceTimersByTimeAsync(200);
    expect(warned).toHaveLength(1);
    await vi.runAllTimersAsync();
    expect(again).toEqual(["/app/office.segment.json"]);
    expect(
      orphans.wait(
        application(true),
        application(false),
        new Set([...segment, "/app/src/shop/quote.ts"]),
      ),
    ).toBe(false);
  });
});

/** With one function, which a segment file names or not. */
function application(isNamed: boolean): Application {
  const module = { id: "shop/quote", file: "/app/src/shop/quote.ts", name: "src/shop/quote.ts" };
  const entries = [{ segment: { name: "office", file: "office.segment.json" } }];
  const parts = {
    root: "/app",
    procedures: isNamed ? [{ fqn: "shop/quote", module, export: "quote", entries }] : [],
    modules: {
      get: () => module,
      byFile: (file: string) => (file === module.file ? module : undefined),
      describe: () => ({ exports: [{ name: "quote" }] }),
    },
  };
  return parts as unknown as Application;
}
