// `withOptions` of the package itself, for code that isn't a module of the application: main files,
// middleware, tests. Application modules have the one of their own node.

import { callWith, type OptionsHost } from "../../src/runtime/call-options.ts";
import type { WithOptions } from "../../src/types/call-options.ts";
import { nodeClock } from "./host.ts";

const hosts = new Set<OptionsHost>();

/** Calls that this service makes have its clock, and in a call the running context. */
export function registerHost(host: OptionsHost): () => void {
  hosts.add(host);
  return () => hosts.delete(host);
}

/** A service whose call is running, else the only service. */
function currentHost(): OptionsHost {
  const running = [...hosts].find(({ carrier }) => carrier.current() !== undefined);
  const [only = alone, ...others] = hosts;
  return running ?? (others.length === 0 ? only : alone);
}

/** Without a service, as in a unit test of a module, options limit the function itself. */
const alone: OptionsHost = {
  clock: nodeClock,
  carrier: { run: (_, act) => act(), current: () => undefined },
};

/** Returns a procedure with a signal, headers or a time limit for each of its calls. */
export const withOptions: WithOptions = (procedure, options) =>
  async function (this: unknown, ...args: unknown[]) {
    return await callWith(currentHost(), procedure, options, this, args);
  } as never;
