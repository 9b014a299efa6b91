// Which addresses members may have. A gateway sends calls and its credentials to the address that a
// member names, so it refuses those of its own machine, and those outside of the deployment.
// Otherwise the trust key alone would be enough to make the gateway send requests there.

import { BadRequest, NodeNotAvailable } from "../../base/errors.ts";
import {
  type Address,
  type AddressRange,
  isIn,
  parseAddress,
  parseRange,
  type SpecialKind,
  specialKind,
} from "../../base/ip.ts";
import type { AddressRule, Names } from "../../base/ports.ts";

export interface MemberAddressesOptions {
  /** Host names and address ranges that members may have [all]. */
  readonly members?: readonly string[] | undefined;
  /** The repository: configured by the operator, so it may have any address. */
  readonly repository?: string | undefined;
  /** Where this gateway will listen, as far as it is known before the start. */
  readonly url?: string | undefined;
}

export interface MemberAddresses {
  /**
   * Throws {@link BadRequest} if a member may not be at `url`, {@link NodeNotAvailable} if its name
   * can't be resolved now.
   */
  check(url: string): Promise<void>;
  /** The same check for every new connection, as a name may resolve to another address by then. */
  readonly rule: AddressRule;
  /** Where this gateway listens. */
  listensAt(url: string): void;
}

const descriptions: Readonly<Record<SpecialKind, string>> = {
  unspecified: "an unspecified address",
  loopback:
    "a loopback address, which is a different machine for each caller: give the address at which others reach it",
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

  /** Addresses and port at which this gateway itself listens. */
  const resolveOwn = async (): Promise<
    { addresses: readonly Address[]; port: string } | undefined
  > => {
    if (own === undefined) return undefined;
    const resolved = parsed(await names.resolve(hostOf(own)));
    isLoopback = resolved.every((address) => specialKind(address) === "loopback");
    const isEverywhere = resolved.some((address) => specialKind(address) === "unspecified");
    return { addresses: isEverywhere ? parsed(names.own()) : resolved, port: portOf(own) };
  };

  /** What is wrong with an address, apart from being the gateway's own. */
  const problemOf = (host: string, address: Address | undefined): string | undefined => {
    if (address === undefined) return "not an IP address";
    const kind = specialKind(address);
    if (kind !== undefined && (kind !== "loopback" || !isLoopback)) return descriptions[kind];
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
      const problem = problemOf(host, parseAddress(address));
      return problem === undefined ? undefined : sentence(host, address, problem);
    },
    async check(url) {
      const host = hostOf(url);
      const refusal = (reason: string): BadRequest =>
        new BadRequest(`A member can't be at ${new URL(url).origin}: ${reason}`);
      const here = await resolveOwn();
      const found = await names.resolve(host).catch((error: Error & { readonly code?: string }) => {
        if (error.code === "ENOTFOUND")
          throw refusal(`the name ${host} has no address here (ENOTFOUND)`);
        // It may be resolved later, and the member did nothing wrong.
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
          here.addresses.some((candidate) => isSame(candidate, address));
        const problem = isOwn ? "this gateway's own address" : problemOf(host, address);
        if (problem !== undefined) throw refusal(sentence(host, text, problem));
      }
    },
  };
}

function sentence(host: string, address: string, problem: string): string {
  return host === address
    ? `${address} is ${problem}`
    : `${host} resolves to ${address}, ${problem}`;
}

/** The host to look up: without the brackets of an IPv6 address. */
function hostOf(url: string): string {
  return new URL(url).hostname.replace(/^\[|\]$/g, "");
}

function portOf(url: string): string {
  const { port, protocol } = new URL(url);
  return port === "" ? (protocol === "https:" ? "443" : "80") : port;
}

/** A trailing dot, for the DNS root, doesn't change a name. */
function nameOf(host: string): string {
  return host.toLowerCase().replace(/\.$/, "");
}

function rangesIn(entries: readonly string[]): readonly AddressRange[] {
  return entries.flatMap((entry) => parseRange(entry) ?? []);
}

function parsed(addresses: readonly string[]): readonly Address[] {
  return addresses.flatMap((text) => {
    const address = parseAddress(text);
    return address === undefined ? [] : [address];
  });
}

function isSame(left: Address, right: Address): boolean {
  return left.length === right.length && left.every((byte, index) => byte === right[index]);
}
