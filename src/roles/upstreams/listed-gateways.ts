// The gateways that a configuration lists. A host name with several addresses stands for a gateway at each of
// them.

import type { Host } from "../../base/ports.ts";
import type { GatewayAddress, Gateways } from "../../base/ports/gateways.ts";
import { watchAddresses } from "../links/watch-addresses.ts";

type Parts = Pick<Host, "names" | "clock" | "log">;

/** The gateways of a service, from addresses without a slash at the end or from another source. */
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
      // After each lookup, even with the same addresses: a link may be at another address meanwhile.
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
      // Addresses without a name to look up are known at once.
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
  // With a single address, each connection looks the name up itself, so it follows a change at once.
  const [resolved] = addresses;
  return addresses.length === 1
    ? [{ url, resolved }]
    : addresses.map((address) => ({ url, address }));
}
