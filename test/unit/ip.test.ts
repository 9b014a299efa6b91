import { isIP } from "node:net";

import fc from "fast-check";
import { describe, expect, it } from "vitest";

import { parseAddress, publicCaller } from "../../src/base/ip.ts";

describe("parseAddress", () => {
  it("returns the same bytes for each spelling of an address", () => {
    for (const text of [
      "10.1.2.3",
      "::ffff:10.1.2.3",
      "::FFFF:a01:203",
      "0:0:0:0:0:ffff:a01:0203",
      "::10.1.2.3",
      "64:ff9b::10.1.2.3",
    ])
      expect(parseAddress(text), text).toEqual([10, 1, 2, 3]);
    for (const text of [
      "fd00::1",
      "FD00:0:0:0:0:0:0:1",
      "fd00::0.0.0.1",
      "fd00:0::0:1",
      "fd00::1%eth0",
    ])
      expect(parseAddress(text), text).toEqual([0xfd, ...Array<number>(14).fill(0), 1]);
  });

  it("accepts exactly the texts that Node accepts", () => {
    const text = fc.oneof(
      fc.ipV4(),
      fc.ipV6(),
      fc.stringMatching(/^[\da-f:.]{0,20}$/),
      fc.constantFrom(
        "1.2.3",
        "01.2.3.4",
        "1.2.3.256",
        "::1::",
        "1:2:3:4:5:6:7",
        "1:2:3:4:5:6:7::",
        ":::",
        "1:2:3:4:5:6:7:8:9",
        "::1.2.3.4:1",
        "12345::",
      ),
    );
    fc.assert(fc.property(text, (one) => (parseAddress(one) !== undefined) === (isIP(one) !== 0)));
  });
});

describe("publicCaller", () => {
  it("names the address of a caller on the internet, and for IPv6 its /64", () => {
    expect(publicCaller("203.0.113.7")).toBe(publicCaller("::ffff:203.0.113.7"));
    expect(publicCaller("2001:db8:1:2::1")).toBe(publicCaller("2001:db8:1:2:ffff::9"));
    expect(publicCaller("2001:db8:1:2::1")).not.toBe(publicCaller("2001:db8:1:3::1"));
    for (const text of ["9.255.255.255", "11.0.0.0", "172.15.0.1", "172.32.0.1", "192.167.0.1"])
      expect(publicCaller(text), text).toBeDefined();
    for (const text of ["100.63.255.255", "100.128.0.0", "169.253.0.1", "126.0.0.1", "128.0.0.1"])
      expect(publicCaller(text), text).toBeDefined();
  });

  it("names no address behind which there may be many callers, and no text that isn't one", () => {
    for (const text of ["10.0.0.1", "172.16.0.1", "172.31.255.255", "192.168.0.1", "127.0.0.1"])
      expect(publicCaller(text), text).toBeUndefined();
    for (const text of ["0.0.0.0", "100.64.0.1", "100.127.255.255", "169.254.1.1"])
      expect(publicCaller(text), text).toBeUndefined();
    for (const text of ["::1", "::", "fd00::1", "fe80::1%eth0", "unknown", "", "203.0.113.7:80"])
      expect(publicCaller(text), text).toBeUndefined();
  });
});
