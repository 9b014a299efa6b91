import { describe, expect, it, vi } from "vitest";
import { createCarrier, equalSecrets, nodeClock } from "../../../server/host.ts";
import { createLog } from "../../../server/log.ts";
import { emptyContext } from "../../../src/context.ts";

describe("equalSecrets", () => {
  it.each([
    ["a", "a", true],
    ["a", "b", false],
    ["a", "ab", false],
    ["", "", true],
    ["", "a", false],
    ["ä", "a\u0308", false],
  ])("%j and %j: %s", (one, other, equal) => {
    expect(equalSecrets(one, other)).toBe(equal);
  });
});

describe("the clock", () => {
  it("never goes back, and a cancelled timer does not run", async () => {
    const before = nodeClock.now();
    const cancelled = vi.fn<() => void>();
    const cancel = nodeClock.after(1, cancelled);
    cancel();
    await new Promise<void>((resolve) => nodeClock.after(2, resolve));
    expect(nodeClock.now()).toBeGreaterThan(before);
    expect(cancelled).not.toHaveBeenCalled();
  });
});

describe("the carrier", () => {
  it("carries a context through awaits, apart for calls that run at once, and not outside", async () => {
    const carrier = createCarrier();
    const [one, two] = [emptyContext(), emptyContext()];
    const act = async () => {
      await Promise.resolve();
      return carrier.current();
    };
    expect(await Promise.all([carrier.run(one, act), carrier.run(two, act)])).toEqual([one, two]);
    expect(carrier.current()).toBeUndefined();
  });
});

describe("the log", () => {
  const outputs = (isTTY: boolean) => {
    const lines: string[] = [];
    return {
      lines,
      out: { isTTY, write: (text: string) => lines.push(`out ${text}`) },
      err: { isTTY, write: (text: string) => lines.push(`err ${text}`) },
    };
  };

  it("writes information to standard output, the rest to standard error, each under its name", () => {
    const { lines, out, err } = outputs(false);
    const log = createLog({ name: "node A", out, err, env: {} });
    log.info("ready");
    log.warn("old");
    log.error("broken", new Error("why", { cause: new Error("deeper") }));
    expect(lines.slice(0, 2)).toEqual(["out [node A] ready\n", "err [node A] warning: old\n"]);
    expect(lines[2]).toMatch(
      /^err \[node A\] error: broken\nError: why\n.*\ncaused by Error: deeper\n/s,
    );
  });

  it.each([
    ["warn", 2],
    ["error", 1],
    ["none", 0],
  ] as const)("from level %s on writes %i of three", (level, count) => {
    const { lines, out, err } = outputs(false);
    const log = createLog({ level, out, err, env: {} });
    log.info("a");
    log.warn("b");
    log.error("c");
    expect(lines).toHaveLength(count);
  });

  it("colours at a terminal only, and not with NO_COLOR", () => {
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
