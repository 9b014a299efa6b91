// The addresses of a service's host name, which may change while links to it live.

import { parseAddress } from "../../base/ip.ts";
import type { Host } from "../../base/ports.ts";
import { answerMs, everyMs } from "../common/times.ts";

/** Gets the addresses, each once and sorted, at least one. `undefined`: the lookup has failed. */
export type OnLookup = (addresses: readonly string[] | undefined) => void;

/**
 * Looks up the host of a URL, now and every 10 s, and calls `onLookup` each time. Returns a function that ends
 * it, or `undefined` if there is nothing to look up.
 */
export function watchAddresses(
  { names, clock, log }: Pick<Host, "names" | "clock" | "log">,
  url: string,
  onLookup: OnLookup,
): (() => void) | undefined {
  const hostname = new URL(url).hostname.replace(/^\[|\]$/g, "");
  if (isFixed(hostname)) return undefined;
  let known = 0;
  let hasFailed = false;
  let isOver = false;
  let cancel = (): void => {};

  const look = async (): Promise<readonly string[] | undefined> => {
    try {
      const found = [...new Set(await inTime(clock, names.resolve(hostname)))].toSorted();
      if (found.length === 0) throw new Error("it has no address");
      if (hasFailed) log.info(`'${hostname}' can be looked up again`);
      known = found.length;
      hasFailed = false;
      return found;
    } catch (error) {
      // If no address is known yet, connecting fails with an error about the name.
      if (!hasFailed && known > 0) {
        const what = known === 1 ? "its address" : `its ${known} addresses`;
        log.warn(`can't look '${hostname}' up (${(error as Error).message}): keeping ${what}`);
        hasFailed = true;
      }
      return undefined;
    }
  };
  const run = async (): Promise<void> => {
    const found = await look();
    if (isOver) return;
    cancel = clock.after(everyMs.lookup, () => void run());
    onLookup(found);
  };
  void run();
  return () => {
    isOver = true;
    cancel();
  };
}

/** Whether an address is one of these, in any notation. */
export function isAmong(address: string, addresses: readonly string[]): boolean {
  const bytes = String(parseAddress(address));
  return addresses.some((entry) => String(parseAddress(entry)) === bytes);
}

async function inTime<Found>(clock: Host["clock"], lookup: Promise<Found>): Promise<Found> {
  let cancel = (): void => {};
  const late = new Promise<never>((_, reject) => {
    cancel = clock.after(answerMs.lookup, () =>
      reject(new Error(`no answer in ${answerMs.lookup / 1000} s`)),
    );
  });
  try {
    return await Promise.race([lookup, late]);
  } finally {
    cancel();
  }
}

/** Addresses, and `localhost`: that has two addresses on most machines, and a service listens at one of them. */
function isFixed(hostname: string): boolean {
  return parseAddress(hostname) !== undefined || /^(?:.+\.)?localhost\.?$/i.test(hostname);
}
