// Resolves host names as Node's sockets do.

import type { Names } from "../../src/base/ports.ts";

export const systemNames: Names = {
  async resolve(host) {
    // Imported when first needed: most starts resolve nothing.
    const { lookup } = await import("node:dns/promises");
    const addresses = await lookup(host, { all: true });
    return addresses.map(({ address }) => address);
  },
};
