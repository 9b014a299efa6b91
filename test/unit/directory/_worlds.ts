// The implementations of the port for a directory's gateways, each with the same events.

import { onTestFinished } from "vitest";

import { openDirectory } from "../../../server/directory/open-directory.ts";
import { nodeHost } from "../../../server/http/host.ts";
import type { Gateways } from "../../../src/base/ports/gateways.ts";
import { Directory } from "../../../src/roles/directory/directory.ts";
import { listedGateways } from "../../../src/roles/upstreams/listed-gateways.ts";
import { key, settle, TestClock, TestLog } from "../../_cluster.ts";
import { MemoryServer } from "../../_memory-buckets.ts";
import { startNats } from "../../_nats.ts";

export interface GatewayProcess {
  leave(): Promise<void>;
  /** Ends it without a word. */
  die(): Promise<void>;
}

export interface World {
  readonly log: TestLog;
  /** Starts a service that looks for gateways. */
  service(): Promise<Gateways>;
  gateway(url: string): Promise<GatewayProcess>;
  /** Time passes, while all that live do what they do. */
  pass(ms: number): Promise<void>;
  /** The directory can't be reached, or is back, maybe without what was in it. */
  away(): Promise<void>;
  back(isEmpty?: boolean): Promise<void>;
}

/** Over buckets that `open` gives each service. */
function worldOf(
  parts: Omit<World, "log" | "service" | "gateway" | "pass"> & {
    readonly log: TestLog;
    readonly clock: TestClock;
    readonly turn: () => Promise<void>;
    readonly open: (role: "gateway" | "proxy") => Promise<Directory>;
  },
): World {
  const { clock, turn, open } = parts;
  const start = async (role: "gateway" | "proxy"): Promise<Directory> => {
    const directory = await open(role);
    onTestFinished(() => directory.stop());
    await directory.start();
    return directory;
  };
  return {
    ...parts,
    service: () => start("proxy"),
    async gateway(url) {
      const directory = await start("gateway");
      await directory.announceGateway(url);
      return { leave: () => directory.leave(), die: () => directory.stop() };
    },
    async pass(ms) {
      for (let passed = 0; passed < ms; passed += 5_000) {
        await clock.pass(Math.min(5_000, ms - passed));
        await turn();
      }
    },
  };
}

/** Those in which gateways come and go. */
export const directories: Readonly<Record<string, () => Promise<World>>> = {
  async memory() {
    const clock = new TestClock();
    const log = new TestLog();
    const server = new MemoryServer();
    const host = { ...nodeHost({ log, clock }) };
    return worldOf({
      clock,
      log,
      turn: settle,
      open: async () =>
        new Directory({
          host,
          buckets: server.buckets(),
          trustKey: key,
          prefix: "tests",
          instance: crypto.randomUUID(),
        }),
      async away() {
        server.away();
      },
      async back(isEmpty) {
        if (isEmpty) server.forget();
        server.back();
      },
    });
  },

  async NATS() {
    const clock = new TestClock();
    const log = new TestLog();
    const server = await startNats();
    const host = { ...nodeHost({ log, clock }) };
    return worldOf({
      clock,
      log,
      turn: () => new Promise((resolve) => setTimeout(resolve, 10)),
      async open(role) {
        const { directory } = await openDirectory({
          host,
          config: { nats: [server.url] },
          role,
          root: process.cwd(),
          trustKey: key,
          instance: crypto.randomUUID(),
        });
        return directory;
      },
      away: () => server.kill(),
      async back(isEmpty) {
        if (isEmpty) await server.forget();
        await server.start();
      },
    });
  },
};

/** All of them. */
export const worlds: Readonly<Record<string, () => Promise<World>>> = {
  ...directories,

  /** A gateway that a configuration lists stays listed, reachable or not. */
  async "a list"() {
    const clock = new TestClock();
    const log = new TestLog();
    const urls: string[] = [];
    const nothing = async (): Promise<void> => {};
    return {
      log,
      service: async () => listedGateways(nodeHost({ log, clock }), urls),
      async gateway(url) {
        urls.push(url);
        return { leave: nothing, die: nothing };
      },
      pass: (ms) => clock.pass(ms),
      away: nothing,
      back: nothing,
    };
  },
};
