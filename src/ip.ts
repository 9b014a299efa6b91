// IP addresses as bytes, and ranges of them: whatever way one is written, it is compared by what it is.

/** 4 bytes, or 16. An IPv4 address that an IPv6 one carries (::ffff:127.0.0.1) is the IPv4 one: that is where its packets end. */
export type Address = readonly number[];

/** Addresses whose first `bits` are those of `address`. */
export interface AddressRange {
  readonly address: Address;
  readonly bits: number;
}

/** What an address is for, where it isn't for one machine of a network. */
export type SpecialKind = "unspecified" | "loopback" | "link-local" | "multicast";

/** `undefined` for what is no address. A zone (`fe80::1%eth0`) says by which of our own cables it is reached: it is no part of the address. */
export function parseAddress(text: string): Address | undefined {
  const bare = text.replace(/%.*$/s, "");
  const bytes = bare.includes(":") ? parseVersion6(bare) : parseVersion4(bare);
  return bytes?.length === 16 ? carriedBy(bytes) : bytes;
}

/** `10.0.0.0/8`, or one address. `undefined` for anything else. */
export function parseRange(text: string): AddressRange | undefined {
  const [, written = "", length] = /^([^/]*)(?:\/(0|[1-9]\d{0,2}))?$/.exec(text) ?? [];
  const whole = written.includes(":") ? parseVersion6(written) : parseVersion4(written);
  if (whole === undefined) return undefined;
  const bits = length === undefined ? whole.length * 8 : Number(length);
  if (bits > whole.length * 8) return undefined;
  const address = whole.length === 16 ? carriedBy(whole) : whole;
  // ::ffff:10.0.0.0/104 is 10.0.0.0/8.
  const cut = (whole.length - address.length) * 8;
  return bits < cut ? { address: whole, bits } : { address, bits: bits - cut };
}

export function isIn(address: Address, range: AddressRange): boolean {
  if (address.length !== range.address.length) return false;
  return address.every((byte, index) => {
    const bits = Math.min(8, Math.max(0, range.bits - index * 8));
    return byte >> (8 - bits) === (range.address[index] ?? 0) >> (8 - bits);
  });
}

function parseVersion4(text: string): Address | undefined {
  const parts = text.split(".");
  // No leading zeros: some take 010 for 8.
  if (parts.length !== 4 || !parts.every((part) => /^(?:0|[1-9]\d{0,2})$/.test(part)))
    return undefined;
  const bytes = parts.map(Number);
  return bytes.every((byte) => byte <= 255) ? bytes : undefined;
}

function parseVersion6(text: string): Address | undefined {
  const [before = "", after, ...more] = text.split("::");
  const head = groupsOf(before, after === undefined);
  const tail = after === undefined ? [] : groupsOf(after, true);
  if (head === undefined || tail === undefined || more.length > 0) return undefined;
  const missing = 16 - head.length - tail.length;
  if (after === undefined ? missing !== 0 : missing < 2) return undefined;
  return [...head, ...Array<number>(missing).fill(0), ...tail];
}

/** The last group may be an IPv4 address. */
function groupsOf(text: string, isEnd: boolean): number[] | undefined {
  if (text === "") return [];
  const bytes: number[] = [];
  const groups = text.split(":");
  for (const [index, group] of groups.entries()) {
    if (/^[\da-f]{1,4}$/i.test(group))
      bytes.push(Number.parseInt(group, 16) >> 8, Number.parseInt(group, 16) & 255);
    else {
      const four = isEnd && index === groups.length - 1 ? parseVersion4(group) : undefined;
      if (four === undefined) return undefined;
      bytes.push(...four);
    }
  }
  return bytes;
}

/** IPv6 prefixes behind which an IPv4 address stands: mapped, the old "compatible" ones, and those of NAT64 (RFC 6052). */
const carriers: readonly (readonly number[])[] = [
  [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 255, 255],
  [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0],
  [0, 0x64, 0xff, 0x9b, 0, 0, 0, 0, 0, 0, 0, 0],
];

function carriedBy(bytes: Address): Address {
  const four = bytes.slice(12);
  // :: and ::1 are addresses of IPv6 itself.
  if (bytes.slice(0, 15).every((byte) => byte === 0) && (bytes[15] ?? 0) <= 1) return bytes;
  return carriers.some((prefix) => prefix.every((byte, index) => bytes[index] === byte))
    ? four
    : bytes;
}

const special: readonly (readonly [SpecialKind, AddressRange])[] = (
  [
    // "This network" (RFC 1122): what connects to 0.0.0.0 gets to its own machine.
    ["unspecified", "0.0.0.0/8"],
    ["unspecified", "::/128"],
    ["loopback", "127.0.0.0/8"],
    ["loopback", "::1/128"],
    ["link-local", "169.254.0.0/16"],
    ["link-local", "fe80::/10"],
    ["multicast", "224.0.0.0/4"],
    ["multicast", "255.255.255.255/32"],
    ["multicast", "ff00::/8"],
  ] as const
).map(([kind, text]) => [kind, parseRange(text)!]);

export function specialKind(address: Address): SpecialKind | undefined {
  return special.find(([, range]) => isIn(address, range))?.[0];
}
