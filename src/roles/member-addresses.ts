// Where members may be. A gateway sends calls, and what proves that it is the gateway, to whatever address a member names: so an address
// that leads to the gateway's own machine, or to no machine of the deployment, is refused (with the trust key alone it could be reached).

import { BadRequest, NodeNotAvailable } from "../errors.ts";
import {
  type Address,
  type AddressRange,
  isIn,
  parseAddress,
  parseRange,
  type SpecialKind,
  specialKind,
} from "../ip.ts";
import type { AddressRule, Names } from "../ports.ts";

export interface MemberAddressesOptions {
  /** Host names and ranges of addresses that members must be among [all]. */
  readonly members?: readonly string[] | undefined;
  /** A service that is called too, and is no member: its address is the owner's to choose. */
  readonly repository?: string | undefined;
  /** Where this gateway listens, as far as it is known before it does. */
  readonly url?: string | undefined;
}

export interface MemberAddresses {
  /** Throws {@link BadRequest} when no member may be at `url`, {@link NodeNotAvailable} when that can't be told now. */
  check(url: string): Promise<void>;
  /** The same for an address that is about to be connected to: a name may resolve to something else by then. */
  readonly rule: AddressRule;
  /** Where this gateway listens. */
  listensAt(url: string): void;
}

const words: Readonly<Record<SpecialKind, string>> = {
  unspecified: "an unspecified address",
  loopback:
    "a loopback address, which means another machine on each: name the address that others reach it at",
  "link-local": "a link-local address",
  multicast: "a multicast address",
};

export function createMemberAddresses(
  names: Names,
  options: MemberAddressesOptions,
): MemberAddresses {
  const allowed = options.members && {
    names: options.members.map(nameOf),
    ranges: rangesIn(options.members),
  };
  const exempt = options.repository === undefined ? undefined : hostOf(options.repository);
  let own = options.url;
  let isLoopback = false;

  /** Addresses and port at which this gateway itself is. */
  const ownEnd = async (): Promise<{ addresses: readonly Address[]; port: string } | undefined> => {
    if (own === undefined) return undefined;
    const found = parsed(await names.resolve(hostOf(own)));
    isLoopback = found.every((address) => specialKind(address) === "loopback");
    const isEverywhere = found.some((address) => specialKind(address) === "unspecified");
    return { addresses: isEverywhere ? parsed(names.own()) : found, port: portOf(own) };
  };

  /** What is wrong with an address, whoever is there. */
  const problem = (host: string, address: Address | undefined): string | undefined => {
    if (address === undefined) return "no address that is known here";
    const kind = specialKind(address);
    if (kind !== undefined && (kind !== "loopback" || !isLoopback)) return words[kind];
    if (
      allowed === undefined ||
      allowed.names.includes(nameOf(host)) ||
      allowed.ranges.some((range) => isIn(address, range))
    )
      return undefined;
    return "not among 'members' in this gateway's configuration";
  };

  return {
    listensAt(url) {
      own = url;
    },
    rule(host, address) {
      if (host === exempt) return undefined;
      const what = problem(host, parseAddress(address));
      return what === undefined ? undefined : sentence(host, address, what);
    },
    async check(url) {
      const host = hostOf(url);
      const refused = (why: string): BadRequest =>
        new BadRequest(`A member can't be at ${new URL(url).origin}: ${why}`);
      const here = await ownEnd();
      const found = await names.resolve(host).catch((error: Error & { readonly code?: string }) => {
        if (error.code === "ENOTFOUND")
          throw refused(`the name ${host} has no address here (ENOTFOUND)`);
        // That may change, and nobody is to blame for it.
        throw new NodeNotAvailable(
          `The name ${host} can't be looked up now (${error.code ?? error.message})`,
        );
      });
      for (const text of found) {
        const address = parseAddress(text);
        const isOwn =
          here !== undefined &&
          address !== undefined &&
          here.port === portOf(url) &&
          here.addresses.some((one) => same(one, address));
        const what = isOwn ? "this gateway's own address" : problem(host, address);
        if (what !== undefined) throw refused(sentence(host, text, what));
      }
    },
  };
}

function sentence(host: string, address: string, what: string): string {
  return host === address ? `${address} is ${what}` : `${host} resolves to ${address}, ${what}`;
}

/** As names are looked up: without the brackets of an IPv6 address. */
function hostOf(url: string): string {
  return new URL(url).hostname.replace(/^\[|\]$/g, "");
}

function portOf(url: string): string {
  const { port, protocol } = new URL(url);
  return port === "" ? (protocol === "https:" ? "443" : "80") : port;
}

/** A name with the root's dot is the same name. */
function nameOf(host: string): string {
  return host.toLowerCase().replace(/\.$/, "");
}

function rangesIn(entries: readonly string[]): readonly AddressRange[] {
  return entries.flatMap((entry) => parseRange(entry) ?? []);
}

function parsed(addresses: readonly string[]): readonly Address[] {
  return addresses.flatMap((one) => {
    const address = parseAddress(one);
    return address === undefined ? [] : [address];
  });
}

function same(one: Address, other: Address): boolean {
  return one.length === other.length && one.every((byte, index) => byte === other[index]);
}
