import { isIP } from "node:net";

import fc from "fast-check";
import { describe, expect, it } from "vitest";

import { parseAddress } from "../../src/base/ip.ts";

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
