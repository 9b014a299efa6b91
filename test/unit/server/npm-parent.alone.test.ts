import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";

import { whenNpmEnds } from "../../../server/base/npm-parent.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

function watched(env: Record<string, string>) {
  let parent = 7;
  const act = vi.fn();
  const stop = whenNpmEnds(act, { env, parent: () => parent });
  return { act, stop, orphan: () => void (parent = 1) };
}

describe("what npm has started", () => {
  it.each([
    { npm_command: "exec", npm_lifecycle_script: "seamline" },
    { npm_command: "run-script", npm_lifecycle_script: "seamline build && seamline start" },
    { npm_command: "start" },
  ])("is told once that its shell is gone: %j", (env) => {
    const { act, orphan } = watched(env);
    vi.advanceTimersByTime(60_000);
    expect(act).not.toHaveBeenCalled();
    orphan();
    vi.advanceTimersByTime(250);
    vi.advanceTimersByTime(60_000);
    expect(act).toHaveBeenCalledTimes(1);
  });

  it.each([
    {},
    { npm_command: "run-script", npm_lifecycle_script: "seamline start &" },
    { npm_command: "run-script", npm_lifecycle_script: "seamline start & sleep 1" },
    { npm_command: "run-script", npm_lifecycle_script: "nohup seamline start" },
  ])("goes on by itself where it was not started by npm, or to stay: %j", (env) => {
    const { act, orphan } = watched(env);
    orphan();
    vi.advanceTimersByTime(60_000);
    expect(act).not.toHaveBeenCalled();
    expect(vi.getTimerCount()).toBe(0);
  });

  it("isn't watched any more once that was stopped", () => {
    const { act, stop, orphan } = watched({ npm_command: "exec" });
    stop();
    orphan();
    vi.advanceTimersByTime(60_000);
    expect(act).not.toHaveBeenCalled();
  });
});
