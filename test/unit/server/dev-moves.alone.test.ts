import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";

import type { Application } from "../../../server/compile/read/application.ts";
import { Moves } from "../../../server/dev/files/moves.ts";
import { Orphans } from "../../../server/dev/files/orphans.ts";
import type { Move } from "../../../server/dev/session/session.ts";

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

describe("a procedure moved by two saves", () => {
  it("a move by two saves is reported once, when the procedure has arrived", async () => {
    const { told, moves } = listen();
    moves.add([move("office", "office store")], 12);
    await vi.advanceTimersByTimeAsync(100);
    expect(told).toEqual([]);
    moves.add([move("office store", "store")], 9);
    await vi.runAllTimersAsync();
    expect(told).toEqual([{ moves: [move("office", "store")], ms: 9 }]);
  });

  it("the first save of a move is reported as an addition if no second save follows", async () => {
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

  it("a move and its reverse are reported as two moves", () => {
    const { told, moves } = listen();
    moves.add([move("office", "office store")], 12);
    moves.add([move("office store", "office")], 9);
    expect(told.map((one) => one.moves)).toEqual([
      [move("office", "office store"), move("office store", "office")],
    ]);
  });

  it("half a move isn't reported after the session has ended", async () => {
    const { told, moves } = listen();
    moves.add([move("office", "office store")], 12);
    moves.close();
    await vi.runAllTimersAsync();
    expect(told).toEqual([]);
  });

  it("a move by two saves causes no warning in between", async () => {
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

describe("the two halves of a move", () => {
  it("half a move is reported only once all earlier changes are live", async () => {
    let live = (): void => {};
    const settled = new Promise<void>((resolve) => (live = resolve));
    const told: (readonly Move[])[] = [];
    const moves = new Moves(
      (some) => told.push(some),
      () => settled,
    );
    moves.add([move("office", "office store")], 12);
    await vi.runAllTimersAsync();
    expect(told).toEqual([]);
    live();
    await vi.runAllTimersAsync();
    expect(told).toEqual([[move("office", "office store")]]);
  });

  it("a session that ends while changes become live reports no move", async () => {
    let live = (): void => {};
    const settled = new Promise<void>((resolve) => (live = resolve));
    const told: (readonly Move[])[] = [];
    const moves = new Moves(
      (some) => told.push(some),
      () => settled,
    );
    moves.add([move("office", "office store")], 12);
    await vi.runAllTimersAsync();
    moves.close();
    live();
    await vi.runAllTimersAsync();
    expect(told).toEqual([]);
  });

  it("halves of two procedures aren't reported as one move", async () => {
    const { told, moves } = listen();
    moves.add([move("office", "office store")], 12);
    moves.add([move("office store", "store", "shop/stock")], 9);
    expect(told.map((one) => one.moves)).toEqual([[move("office store", "store", "shop/stock")]]);
    await vi.runAllTimersAsync();
    expect(told.slice(1).map((one) => one.moves)).toEqual([[move("office", "office store")]]);
  });

  it("a completed half doesn't complete a second move", async () => {
    const { told, moves } = listen();
    moves.add([move("office", "office store")], 12);
    moves.add([move("office store", "store")], 9);
    moves.add([move("office store", "store")], 9);
    await vi.runAllTimersAsync();
    expect(told.map((one) => one.moves)).toEqual([
      [move("office", "store")],
      [move("office store", "store")],
    ]);
  });

  it("an added procedure is reported at once", () => {
    const { told, moves } = listen();
    const added = { fqn: "shop/quote", from: [], to: ["store"] };
    moves.add([added], 12);
    expect(told.map((one) => one.moves)).toEqual([[added]]);
  });

  it("a procedure that moves from one place to two others is reported at once", () => {
    const { told, moves } = listen();
    moves.add([move("office", "store page")], 12);
    expect(told).toHaveLength(1);
  });
});

describe("a procedure that no segment file names anymore", () => {
  const segment = new Set(["/app/office.segment.json"]);
  const watch = () => {
    const warned: unknown[] = [];
    const again: string[] = [];
    const orphans = new Orphans(
      (event) => warned.push(event),
      (file) => again.push(file),
    );
    const wait = () => orphans.wait(application(true), application(false), segment);
    return { warned, again, orphans, wait };
  };

  it("further changes cause no second warning about an unnamed procedure, and no second reading", async () => {
    const { warned, again, wait } = watch();
    expect(wait()).toBe(true);
    await vi.advanceTimersByTimeAsync(100);
    expect(wait()).toBe(true);
    await vi.runAllTimersAsync();
    expect([warned.length, again.length]).toEqual([1, 1]);
  });

  it("an unnamed procedure stays for ten seconds, and the next one for another ten", async () => {
    const { wait } = watch();
    expect(wait()).toBe(true);
    await vi.advanceTimersByTimeAsync(9_000);
    expect(wait()).toBe(true);
    await vi.advanceTimersByTimeAsync(1_000);
    expect(wait()).toBe(false);
    expect(wait()).toBe(true);
  });

  it("a session that ends neither warns about an unnamed procedure nor reads again", async () => {
    const { warned, again, orphans, wait } = watch();
    wait();
    orphans.close();
    await vi.runAllTimersAsync();
    expect([warned, again]).toEqual([[], []]);
  });
});

/** An application with one function, which a segment file names or doesn't. */
function application(isNamed: boolean): Application {
  const module = { id: "shop/quote", file: "/app/src/shop/quote.ts", name: "src/shop/quote.ts" };
  const entries = [{ segment: { name: "office", file: "office.segment.json" } }];
  const parts = {
    root: "/app",
    procedures: isNamed ? [{ fqn: "shop/quote", module, export: "quote", entries }] : [],
    routes: [],
    modules: {
      get: () => module,
      byFile: (file: string) => (file === module.file ? module : undefined),
      describe: () => ({ exports: [{ name: "quote" }] }),
    },
  };
  return parts as unknown as Application;
}
