// The gateways that a configuration lists. A host name that has several addresses stands for a gateway
// at each of them.

import type { Host } from "../../base/ports.ts";
import type { GatewayAddress, Gateways } from "../../base/ports/gateways.ts";
import { watchAddresses } from "../links/watch-addresses.ts";

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
  return {
    watch(onGateways) {
      const found: (readonly GatewayAddress[] | undefined)[] = urls.map(() => undefined);
      // After each lookup, as a link may be elsewhere although the addresses are the same.
      const tell = (): void => {
        const known = found.filter((gateways) => gateways !== undefined);
        if (known.length === urls.length) onGateways(known.flat());
      };
      const ends = urls.map((url, at) => {
        const end = watchAddresses(parts, url, (addresses) => {
          found[at] = gatewaysAt(url, addresses, found[at]);
          tell();
        });
        if (end === undefined) found[at] = [{ url }];
        return end;
      });
      // Those without a name to look up are known at once.
      if (ends.every((end) => end === undefined)) tell();
      return () => {
        for (const end of ends) end?.();
      };
    },
  };
}

function gatewaysAt(
  url: string,
  addresses: readonly string[] | undefined,
  known: readonly GatewayAddress[] = [],
): readonly GatewayAddress[] {
  if (addresses === undefined) return known.length > 1 ? known : [{ url }];
  // A connection looks a single address up itself, and so follows it at once when it is lost.
  const [resolved] = addresses;
  return addresses.length === 1
    ? [{ url, resolved }]
    : addresses.map((address) => ({ url, address }));
}
