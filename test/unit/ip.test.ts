import { isIP } from "node:net";

import fc from "fast-check";
import { describe, expect, it } from "vitest";

import { isIn, parseAddress, parseRange, specialKind } from "../../src/base/ip.ts";

const kindOf = (text: string): string | undefined => specialKind(parseAddress(text)!);

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

describe("specialKind", () => {
  it.each([
    ["unspecified", ["0.0.0.0", "0.1.2.3", "::", "::ffff:0.0.0.0", "0:0:0:0:0:0:0:0"]],
    [
      "loopback",
      [
        "127.0.0.1",
        "127.255.0.3",
        "::1",
        "::ffff:127.0.0.1",
        "::ffff:7f00:1",
        "::127.0.0.1",
        "64:ff9b::7f00:1",
      ],
    ],
    ["link-local", ["169.254.169.254", "fe80::1", "febf::1", "fe80::1%eth0", "::ffff:169.254.1.1"]],
    ["multicast", ["224.0.0.1", "239.1.2.3", "255.255.255.255", "ff02::1"]],
    [
      undefined,
      [
        "10.0.0.1",
        "192.168.1.1",
        "8.8.8.8",
        "fd00::1",
        "2001:db8::1",
        "fec0::1",
        "126.0.0.1",
        "128.0.0.1",
        "223.255.255.255",
      ],
    ],
  ] as const)("is %s", (kind, addresses) => {
    for (const one of addresses) expect(kindOf(one), one).toBe(kind);
  });
});

describe("parseRange", () => {
  it("gives a range of the addresses that begin with its bits", () => {
    const inRange = (address: string, range: string): boolean =>
      isIn(parseAddress(address)!, parseRange(range)!);
    expect(
      ["10.255.0.1", "11.0.0.0", "::ffff:10.0.0.1", "fd00::1"].map((one) =>
        inRange(one, "10.0.0.0/8"),
      ),
    ).toEqual([true, false, true, false]);
    expect(
      ["192.168.4.0", "192.168.7.255", "192.168.8.0"].map((one) => inRange(one, "192.168.4.0/22")),
    ).toEqual([true, true, false]);
    expect(["fd12::1", "fd13::1", "10.0.0.1"].map((one) => inRange(one, "fd12::/16"))).toEqual([
      true,
      false,
      false,
    ]);
    expect(["10.0.0.1", "10.0.0.2"].map((one) => inRange(one, "10.0.0.1"))).toEqual([true, false]);
    expect(["10.0.0.1", "11.0.0.1"].map((one) => inRange(one, "::ffff:10.0.0.0/104"))).toEqual([
      true,
      false,
    ]);
    expect(["10.0.0.1", "8.8.8.8"].map((one) => inRange(one, "0.0.0.0/0"))).toEqual([true, true]);
  });

  it("refuses everything else", () => {
    for (const text of [
      "",
      "10.0.0.0/33",
      "10.0.0.0/-1",
      "10.0.0.0/",
      "10.0.0.0/08",
      "fd00::/129",
      "shop",
      "10.0.0",
      "fe80::1%eth0/64",
    ])
      expect(parseRange(text), text).toBeUndefined();
  });
});
