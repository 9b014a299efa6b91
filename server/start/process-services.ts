// The services that run in this process. The package's own `runProcedure` uses the only one, and its `withOptions`
// the service whose call is running. Application modules have those of their own node.

import { bindStream } from "../../src/runtime/bound-stream.ts";
import { createWithOptions } from "../../src/runtime/stream.ts";
import type { ContextCarrier } from "../../src/base/ports.ts";
import { callWith, type OptionsHost } from "../../src/runtime/call-options.ts";
import type { WithOptions } from "../../src/types/call-options.ts";
import type { RunProcedure } from "../../src/types/imported.ts";
import { nodeClock } from "../host/clock.ts";
import type { Server } from "./server.ts";

const running = new Set<Server>();

export function registerServer(server: Server): void {
  running.add(server);
}

export function unregisterServer(server: Server): void {
  running.delete(server);
}

/** Runs a procedure by its name, through the only service of this process. */
export const runProcedure: RunProcedure = (async (
  ...call: Parameters<RunProcedure>
): Promise<unknown> => {
  const [server, ...others] = running;
  if (server === undefined)
    throw new Error("Seamline isn't started: await startServer(…) before the first call");
  if (others.length > 0)
    throw new Error(
      "Several services run in this process: use the runProcedure of one of them, server.runProcedure(…)",
    );
  return await server.runProcedure(...call);
}) as RunProcedure;

const hosts = new Set<OptionsHost>();

/** Calls that this service makes have its clock, and in a call the running context. */
export function registerHost(host: OptionsHost): () => void {
  hosts.add(host);
  return () => hosts.delete(host);
}

/** A service whose call is running, else the only service. */
function currentHost(): OptionsHost {
  const calling = [...hosts].find(({ carrier }) => carrier.current() !== undefined);
  const [only = alone, ...others] = hosts;
  return calling ?? (others.length === 0 ? only : alone);
}

/** In code that no service runs, such as a test, no context is carried. */
export const noCarrier: ContextCarrier = {
  run: (_, act) => act(),
  current: () => undefined,
  snapshot: () => (act) => act(),
};

/** Without a service, as in a unit test of a module, options limit the function itself. */
const alone: OptionsHost = { clock: nodeClock, carrier: noCarrier };

/** Returns a procedure with a signal, headers or a time limit for each of its calls. */
export const withOptions: WithOptions = createWithOptions((...call) =>
  callWith({ bind: bindStream, ...currentHost() }, ...call),
);
