// The servers of a directory: a cluster of three NATS servers, each behind a network of its own.

import { jetstreamManager } from "@nats-io/jetstream";
import { connect } from "@nats-io/transport-node";

import { clusterOptions, natsServers } from "../../../test/_nats-servers.ts";
import { pause } from "./load.ts";
import { freePort } from "../../../test/_free-port.ts";
import { Shim } from "./shim.ts";

/** How a server is lost: it is killed, it hangs, or no bytes get through to it. */
export type Loss = "killed" | "hanging" | "unreachable";
export const losses: readonly Loss[] = ["killed", "hanging", "unreachable"];

export interface DirectoryServer {
  /** Its settings for services. */
  readonly url: string;
  lose(loss: Loss): Promise<void>;
  restore(): Promise<void>;
}

export interface DirectoryCluster {
  readonly servers: readonly DirectoryServer[];
  /**
   * Resolves when the servers that aren't lost have elected leaders, for which NATS takes up to ten
   * seconds; when none is lost, also when each has what the others have.
   */
  elected(): Promise<void>;
  close(): Promise<void>;
}

const streams = ["gateways", "members", "lists"].map((bucket) => `KV_seamline_${bucket}`);
/** Bounds waiting for a cluster that doesn't recover. */
const electedMs = 40_000;

export async function startDirectory(): Promise<DirectoryCluster> {
  const ports = [await freePort(), await freePort(), await freePort()];
  // The servers tell their clients of each other, and must tell them these addresses.
  const nats = await natsServers(
    await clusterOptions((server) => `client_advertise: "127.0.0.1:${ports[server]}"`),
  );
  const shims = nats.servers.map(({ port }) => new Shim(port));
  await Promise.all(shims.map((shim, index) => shim.listen(ports[index]!)));
  const lost = new Set<number>();
  return {
    servers: nats.servers.map((server, index) => ({
      url: `nats://127.0.0.1:${ports[index]}`,
      async lose(loss) {
        lost.add(index);
        if (loss === "killed") await server.kill();
        else if (loss === "hanging") server.hang();
        else shims[index]!.weather = "held";
      },
      async restore() {
        lost.delete(index);
        shims[index]!.weather = "fair";
        server.goOn();
        if (!server.isRunning) await server.start();
      },
    })),
    async elected() {
      const left = nats.servers.filter((_, index) => !lost.has(index)).map(({ url }) => url);
      const begun = performance.now();
      for (;;)
        try {
          return await ask(left, lost.size === 0);
        } catch (error) {
          if (performance.now() - begun > electedMs) throw error;
          await pause(100);
        }
    },
    async close() {
      for (const shim of shims) shim.close();
      await nats.close();
    },
  };
}

/** Rejects if one of the streams can't be watched now, or hasn't all its copies, if it must. */
async function ask(servers: readonly string[], isWhole: boolean): Promise<void> {
  const connection = await connect({
    servers: [...servers],
    timeout: 1_000,
    ignoreClusterUpdates: true,
    maxReconnectAttempts: 0,
  });
  try {
    const manager = await jetstreamManager(connection, { timeout: 1_000 });
    for (const stream of streams) {
      const { cluster } = await manager.streams.info(stream);
      const copies = cluster?.replicas?.filter(({ current }) => current) ?? [];
      if (isWhole && copies.length < 2) throw new Error(`${stream} has ${copies.length} copies`);
      // Where a watch goes is decided by the leader of all.
      const name = `elected_${process.pid}_${Math.random().toString(36).slice(2)}`;
      await manager.consumers.add(stream, { name, mem_storage: true, num_replicas: 1 });
      await manager.consumers.delete(stream, name);
    }
  } finally {
    await connection.close();
  }
}
