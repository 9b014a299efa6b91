import { describe, expect, it, vi } from "vitest";
import { createCarrier } from "../../../server/host/carrier.ts";
import { nodeClock } from "../../../server/host/clock.ts";
import { equalSecrets } from "../../../server/http/host.ts";
import { createLog } from "../../../server/base/log.ts";
import { emptyContext } from "../../../src/base/context.ts";

describe("equalSecrets of", () => {
  it.each([
    ["a", "a", true],
    ["a", "b", false],
    ["a", "ab", false],
    ["", "", true],
    ["", "a", false],
    ["ä", "a\u0308", false],
  ])("%j and %j is %s", (left, right, equal) => {
    expect(equalSecrets(left, right)).toBe(equal);
  });
});

describe("the host's clock", () => {
  it("never goes back and doesn't run cancelled timers", async () => {
    const before = nodeClock.now();
    const cancelled = vi.fn<() => void>();
    const cancel = nodeClock.after(1, cancelled);
    cancel();
    await new Promise<void>((resolve) => nodeClock.after(2, resolve));
    expect(nodeClock.now()).toBeGreaterThan(before);
    expect(cancelled).not.toHaveBeenCalled();
  });
});

describe("the host's context carrier", () => {
  it("carries the context of each concurrent call across awaits, and none outside a call", async () => {
    const carrier = createCarrier();
    const [first, second] = [emptyContext(), emptyContext()];
    const act = async () => {
      await Promise.resolve();
      return carrier.current();
    };
    expect(await Promise.all([carrier.run(first, act), carrier.run(second, act)])).toEqual([
      first,
      second,
    ]);
    expect(carrier.current()).toBeUndefined();
  });
});

describe("the host's log", () => {
  const outputs = (isTTY: boolean) => {
    const lines: string[] = [];
    return {
      lines,
      out: { isTTY, write: (text: string) => lines.push(`out ${text}`) },
      err: { isTTY, write: (text: string) => lines.push(`err ${text}`) },
    };
  };

  it("writes information to standard output and the rest to standard error, with the service's name", () => {
    const { lines, out, err } = outputs(false);
    const log = createLog({ name: "node A", out, err, env: {} });
    log.info("ready");
    log.warn("old");
    log.error("broken", new Error("why", { cause: new Error("deeper") }));
    expect(lines.slice(0, 2)).toEqual(["out [node A] ready\n", "err [node A] warning: old\n"]);
    expect(lines[2]).toMatch(
      /^err \[node A\] error: broken\n  Error: why\n.*\n  caused by Error: deeper\n/s,
    );
  });

  it.each([
    ["warn", 2],
    ["error", 1],
    ["none", 0],
  ] as const)("at level %s, writes %i of three lines", (level, count) => {
    const { lines, out, err } = outputs(false);
    const log = createLog({ level, out, err, env: {} });
    log.info("a");
    log.warn("b");
    log.error("c");
    expect(lines).toHaveLength(count);
  });

  it("only has colours at a terminal without NO_COLOR", () => {
    const escape = "\u001B[";
    for (const [isTTY, env, coloured] of [
      [true, {}, true],
      [true, { NO_COLOR: "1" }, false],
      [true, { NO_COLOR: "" }, true],
      [true, { TERM: "dumb" }, false],
      [false, {}, false],
    ] as const) {
      const { lines, out, err } = outputs(isTTY);
      createLog({ out, err, env }).warn("x");
      expect(lines[0]?.includes(escape)).toBe(coloured);
    }
  });
});
