// Resolves host names and lists this machine's addresses, as Node's sockets see them.

import { networkInterfaces } from "node:os";
import type { Names } from "../../../src/base/ports.ts";

export const systemNames: Names = {
  async resolve(host) {
    // Imported when first needed: most starts resolve nothing.
    const { lookup } = await import("node:dns/promises");
    const addresses = await lookup(host, { all: true });
    return addresses.map(({ address }) => address);
  },
  own: () =>
    Object.values(networkInterfaces()).flatMap((addresses = []) =>
      addresses.map(({ address }) => address),
    ),
};
