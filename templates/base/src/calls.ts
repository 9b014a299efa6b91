import type { ObservedCall } from "seamline/client";

/** The latest call of each procedure. */
export type Calls = ReadonlyMap<string, ObservedCall>;

export function withCall(calls: Calls, call: ObservedCall): Calls {
  return new Map([...calls].filter(([fqn]) => fqn !== call.fqn)).set(call.fqn, call);
}

/** The calls that ran in this page, or those that ran elsewhere. */
export function callsOf(calls: Calls, where: ObservedCall["where"]): ObservedCall[] {
  return [...calls.values()].filter((call) => call.where === where);
}

export function nameOf({ fqn }: ObservedCall): string {
  return fqn.split("/").at(-1) ?? fqn;
}

/** `server · 3.1 ms`, or just the time of a call that ran here. */
export function costOf({ node, ms }: ObservedCall): string {
  return `${node === undefined ? "" : `${node} · `}${ms.toFixed(1)} ms`;
}
