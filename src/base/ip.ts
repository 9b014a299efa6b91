// IP addresses and ranges as bytes, so that comparing doesn't depend on how they are written.

/**
 * 4 or 16 bytes. An IPv4 address inside an IPv6 one (::ffff:127.0.0.1) becomes the IPv4 address, to
 * which its packets go.
 */
export type Address = readonly number[];

/** The addresses that begin with the first `bits` of `address`. */
export interface AddressRange {
  readonly address: Address;
  readonly bits: number;
}

/** Kinds of addresses that don't identify one machine of a network. */
export type SpecialKind = "unspecified" | "loopback" | "link-local" | "multicast";

/**
 * `undefined` if the text isn't an address. Drops a zone (`fe80::1%eth0`), which names a local
 * interface.
 */
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
  // No leading zeros: some parsers read 010 as 8.
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

/** IPv6 prefixes before an IPv4 address: mapped, the old "compatible", and NAT64 (RFC 6052). */
const carriers: readonly (readonly number[])[] = [
  [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 255, 255],
  [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0],
  [0, 0x64, 0xff, 0x9b, 0, 0, 0, 0, 0, 0, 0, 0],
];

function carriedBy(bytes: Address): Address {
  const four = bytes.slice(12);
  // :: and ::1 are IPv6 addresses of their own.
  if (bytes.slice(0, 15).every((byte) => byte === 0) && (bytes[15] ?? 0) <= 1) return bytes;
  return carriers.some((prefix) => prefix.every((byte, index) => bytes[index] === byte))
    ? four
    : bytes;
}

const specialTexts: readonly (readonly [SpecialKind, string])[] = [
  // "This network" (RFC 1122): a connection to 0.0.0.0 goes to the machine itself.
  ["unspecified", "0.0.0.0/8"],
  ["unspecified", "::/128"],
  ["loopback", "127.0.0.0/8"],
  ["loopback", "::1/128"],
  ["link-local", "169.254.0.0/16"],
  ["link-local", "fe80::/10"],
  ["multicast", "224.0.0.0/4"],
  ["multicast", "255.255.255.255/32"],
  ["multicast", "ff00::/8"],
];

let specialRanges: readonly (readonly [SpecialKind, AddressRange])[] | undefined;

export function specialKind(address: Address): SpecialKind | undefined {
  specialRanges ??= specialTexts.map(([kind, text]) => [kind, parseRange(text)!]);
  return specialRanges.find(([, range]) => isIn(address, range))?.[0];
}
