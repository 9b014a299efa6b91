import { describe, expect, it } from "vitest";

import { type Host, UnsentError } from "../../../src/base/ports.ts";
import { createLiveness, type Living } from "../../../src/roles/members/liveness.ts";
import { newVitals } from "../../../src/roles/members/vitals.ts";

/** A service that other services call, a clock that is set by hand, and what the log says. */
function watched() {
  let now = 0;
  const asked: number[] = [];
  const lines: string[] = [];
  const member: Living = {
    url: "http://a",
    via: undefined,
    vitals: newVitals(),
    hasLeft: false,
    isHealthy: true,
    idempotent: new Set(),
  };
  const host: Pick<Host, "clock" | "log" | "transport"> = {
    clock: { now: () => now, after: (ms) => (asked.push(ms), () => {}) },
    log: {
      info: (line: string) => lines.push(line),
      warn: (line: string) => lines.push(line),
    } as unknown as Host["log"],
    transport: { send: () => new Promise(() => {}) } as unknown as Host["transport"],
  };
  const liveness = createLiveness<Living>(
    host,
    () => [member],
    ({ vitals }, sign) => void (vitals.sign = sign),
  );
  const refuse = (): void => liveness.failed(member, new UnsentError("refused", "refused"), now);
  return { member, liveness, lines, asked, refuse, at: (ms: number) => void (now = ms) };
}

describe("a service that refuses connections", () => {
  it("stays out of rotation while it answers calls that it had before", () => {
    const { member, liveness, lines, asked, refuse, at } = watched();
    at(10);
    refuse();
    for (const [time, answer] of [
      [20, () => liveness.heard(member, 5)],
      [30, () => liveness.failing(member, 6)],
      [40, () => liveness.failing(member, 35)],
    ] as const) {
      at(time);
      answer();
      refuse();
      expect(member.vitals.sign).toBe("out");
    }
    // It is asked a second later, once.
    expect(asked).toEqual([1_000]);
    expect(lines).toEqual([
      "http://a can't be reached; it gets no calls until it answers again (refused)",
    ]);
  });

  it("is back when it answers a call that was sent since, or a question", () => {
    for (const called of [15, undefined]) {
      const { member, liveness, lines, refuse, at } = watched();
      at(10);
      refuse();
      at(20);
      liveness.heard(member, called);
      expect(member.vitals.sign).toBe("alive");
      expect(lines.at(-1)).toBe("http://a answers again");
    }
  });
});
