// IP addresses as bytes, so that comparing doesn't depend on how they are written.

/**
 * 4 or 16 bytes. An IPv4 address inside an IPv6 one (::ffff:127.0.0.1) becomes the IPv4 address, to
 * which its packets go.
 */
export type Address = readonly number[];

/**
 * `undefined` if the text isn't an address. Drops a zone (`fe80::1%eth0`), which names a local
 * interface.
 */
export function parseAddress(text: string): Address | undefined {
  const bare = text.replace(/%.*$/s, "");
  const bytes = bare.includes(":") ? parseVersion6(bare) : parseVersion4(bare);
  return bytes?.length === 16 ? carriedBy(bytes) : bytes;
}

/** Networks that aren't on the internet, by their first bytes and how many bits of these count. */
const privateNetworks: readonly (readonly [bits: number, ...bytes: number[]])[] = [
  [8, 0],
  [8, 10],
  [10, 100, 64],
  [8, 127],
  [16, 169, 254],
  [12, 172, 16],
  [16, 192, 168],
];

/** Whether an address is one of the internet. */
function isPublic(address: Address): boolean {
  // Of IPv6, all that is given out begins with 001.
  if (address.length === 16) return address[0]! >> 5 === 1;
  return !privateNetworks.some(([bits, ...network]) =>
    network.every((byte, at) => {
      const mask = 0xff << Math.max(0, 8 * (at + 1) - bits);
      return ((address[at]! ^ byte) & mask & 0xff) === 0;
    }),
  );
}

/**
 * One name for all addresses that a caller on the internet has: an IPv4 address, or the /64 of an IPv6 one.
 * `undefined` for other addresses, behind which there may be many callers.
 */
export function publicCaller(text: string): string | undefined {
  const address = parseAddress(text);
  return address !== undefined && isPublic(address) ? address.slice(0, 8).join(".") : undefined;
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
