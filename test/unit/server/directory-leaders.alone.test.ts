// A cluster of NATS that elects leaders answers nothing, and then, at some moment, it does.

import { afterEach, beforeEach, expect, it, vi } from "vitest";

import { NatsBuckets } from "../../../server/directory/nats/buckets.ts";
import type { NatsPackages } from "../../../server/directory/nats/packages.ts";

beforeEach(() => void vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] }));
afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

/** The client of NATS, whose server takes connections, and answers requests that come after `electedAt`. */
function packagesOf(electedAt: number): NatsPackages {
  const info = (): Promise<object> =>
    performance.now() < electedAt
      ? new Promise<object>(() => {})
      : Promise.resolve({ created: "then", config: { num_replicas: 3 } });
  const connection = {
    info: { cluster: "tests" },
    rtt: async () => 1,
    close: async () => {},
    // Nothing happens to it.
    status: () => ({ [Symbol.asyncIterator]: () => ({ next: () => new Promise(() => {}) }) }),
  };
  return {
    core: { connect: async () => connection },
    jetstream: {
      jetstream: () => ({}),
      jetstreamManager: async () => ({ streams: { info } }),
    },
    kv: { Kvm: class {} },
  } as unknown as NatsPackages;
}

it.each([
  ["5 s", 5_000],
  ["10 s", 10_000],
  ["a minute", 60_000],
])(
  "a service that has had no answers from the directory for %s has one 4 s after the servers have elected leaders",
  async (_, electionMs) => {
    // The longest pauses.
    vi.spyOn(Math, "random").mockReturnValue(0.999);
    const begun = performance.now();
    // Leaders are there at any moment of a try, or of a pause.
    for (let delay = 0; delay < 5_000; delay += 500) {
      const electedAt = performance.now() + electionMs + delay;
      const buckets = new NatsBuckets({
        packages: packagesOf(electedAt),
        options: {},
        name: "nats://tests",
        prefix: "seamline",
        uses: ["gateways"],
      });
      let reachedAt: number | undefined;
      const onReached = (): void => void (reachedAt ??= performance.now());
      const opening = buckets.open({ onReached, onAway: () => {} });
      await vi.advanceTimersByTimeAsync(electedAt - performance.now() + 4_000);
      expect(reachedAt, `${delay} ms later, at ${electedAt - begun}`).toBeDefined();
      expect(reachedAt).toBeGreaterThanOrEqual(electedAt);
      await opening;
      await buckets.close();
    }
  },
);
