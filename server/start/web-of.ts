// The names under which a configured service is reached.

import type { PublicOriginOptions } from "../../src/http/public-origin.ts";
import type { Config } from "../config/config.ts";

/** The addresses under which browsers reach the service. */
export function webOf({ origin, hosts, forwarded }: Config): PublicOriginOptions {
  return {
    ...(origin !== undefined && { origins: [origin].flat() }),
    ...(hosts !== undefined && { hosts }),
    ...(forwarded !== undefined && { forwarded }),
  };
}
