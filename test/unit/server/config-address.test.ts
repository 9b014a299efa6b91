import { describe, expect, it } from "vitest";

import { isLoopback } from "../../../server/config/config-address.ts";

describe("isLoopback", () => {
  it("is true of all names and spellings of addresses that never leave the machine, and of no others", () => {
    const own = ["localhost", "a.localhost", "127.0.0.1", "127.255.0.3", "[::1]", "::1"];
    const carried = ["[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "[::127.0.0.1]", "[64:ff9b::7f00:1]"];
    for (const host of [...own, ...carried]) expect([host, isLoopback(host)]).toEqual([host, true]);
    const near = ["126.0.0.1", "128.0.0.1", "0.0.0.0", "[::]", "[::2]", "[1::1]", "[fe80::1]"];
    const named = ["localhost.shop.example", "127.0.0.1.shop.example", "shop"];
    for (const host of [...near, ...named]) expect([host, isLoopback(host)]).toEqual([host, false]);
  });
});
