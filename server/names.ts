// Host names and addresses as Node's sockets see them.

import { lookup } from "node:dns/promises";
import { networkInterfaces } from "node:os";
import type { Names } from "../src/ports.ts";

export const systemNames: Names = {
  async resolve(host) {
    const found = await lookup(host, { all: true });
    return found.map(({ address }) => address);
  },
  own: () =>
    Object.values(networkInterfaces()).flatMap((addresses = []) =>
      addresses.map(({ address }) => address),
    ),
};
