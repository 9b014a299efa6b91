// The gateways that a configuration lists. A host name that has several addresses stands for a gateway
// at each of them.

import { parseAddress } from "../../base/ip.ts";
import type { Host } from "../../base/ports.ts";
import { type GatewayAddress, gatewayName, type Gateways } from "../../base/ports/gateways.ts";

/** How often names are looked up again. */
const lookupIntervalMs = 10_000;
/** A lookup that takes longer has failed. */
const lookupMs = 3_000;

type Parts = Pick<Host, "names" | "clock" | "log">;

/** The gateways that a service is told of in one of these ways. Addresses have no slash at the end. */
export function gatewaysOf(
  parts: Parts,
  gateways: string | readonly string[] | Gateways,
): Gateways {
  return typeof gateways === "object" && "watch" in gateways
    ? gateways
    : listedGateways(parts, [gateways].flat());
}

/** `urls` have no slash at the end. */
export function listedGateways(parts: Parts, urls: readonly string[]): Gateways {
  const { clock } = parts;
  const lookups = urls.map((url) => createLookup(parts, url));
  return {
    watch(onGateways) {
      let told: string | undefined;
      let isOver = false;
      let cancel = (): void => {};
      const tell = (found: readonly (readonly GatewayAddress[])[]): void => {
        const gateways = found.flat();
        const key = gateways.map(gatewayName).join(" ");
        if (key === told || isOver) return;
        told = key;
        onGateways(gateways);
      };
      // An address needs no lookup, and is known at once.
      const fixed = lookups.flatMap(({ fixed: gateway }) => gateway ?? []);
      if (fixed.length === urls.length) tell([fixed]);
      else void look();

      async function look(): Promise<void> {
        tell(
          await Promise.all(lookups.map(async (lookup) => lookup.fixed ?? (await lookup.now()))),
        );
        if (!isOver) cancel = clock.after(lookupIntervalMs, () => void look());
      }

      return () => {
        isOver = true;
        cancel();
      };
    },
  };
}

interface Lookup {
  /** The only gateway, if there is nothing to look up. */
  readonly fixed: readonly GatewayAddress[] | undefined;
  /** Never rejects. */
  now(): Promise<readonly GatewayAddress[]>;
}

function createLookup({ names, clock, log }: Parts, url: string): Lookup {
  const hostname = new URL(url).hostname.replace(/^\[|\]$/g, "");
  const byName: readonly GatewayAddress[] = [{ url }];
  let last = byName;
  let hasFailed = false;
  return {
    fixed: isOne(hostname) ? byName : undefined,
    async now() {
      try {
        const resolved = await inTime(clock, names.resolve(hostname));
        const found = [...new Set(resolved)].toSorted();
        // A connection looks a single address up itself, and so follows it at once when it changes.
        last = found.length < 2 ? byName : found.map((address) => ({ url, address }));
        if (hasFailed) log.info(`'${hostname}' can be looked up again`);
        hasFailed = false;
      } catch (error) {
        // What is known stays. Whoever connects to an unknown name says what is wrong with it.
        if (!hasFailed && last !== byName)
          log.warn(
            `can't look '${hostname}' up (${(error as Error).message}): keeping its ${last.length} addresses`,
          );
        hasFailed = last !== byName;
      }
      return last;
    },
  };
}

async function inTime<Found>(clock: Host["clock"], lookup: Promise<Found>): Promise<Found> {
  let cancel = (): void => {};
  const late = new Promise<never>((_, reject) => {
    cancel = clock.after(lookupMs, () => reject(new Error(`no answer in ${lookupMs / 1000} s`)));
  });
  try {
    return await Promise.race([lookup, late]);
  } finally {
    cancel();
  }
}

/** `localhost` has two addresses on most machines, and what listens there listens at one of them. */
function isOne(hostname: string): boolean {
  return parseAddress(hostname) !== undefined || /^(?:.+\.)?localhost\.?$/i.test(hostname);
}
