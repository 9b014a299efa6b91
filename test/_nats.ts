// NATS servers that end with the test.

import { onTestFinished } from "vitest";

import { clusterOptions, type NatsOptions, natsServers, type NatsServer } from "./_nats-servers.ts";

export { NatsServer } from "./_nats-servers.ts";

/** A server of its own, stopped at the end of the test. */
export async function startNats(options: NatsOptions = {}): Promise<NatsServer> {
  const [server] = await startServers([options]);
  return server!;
}

/** Three servers, each with a copy of everything. */
export async function startNatsCluster(): Promise<readonly NatsServer[]> {
  return await startServers(await clusterOptions());
}

async function startServers(all: readonly NatsOptions[]): Promise<readonly NatsServer[]> {
  const { servers, close } = await natsServers(all);
  onTestFinished(close);
  return servers;
}
