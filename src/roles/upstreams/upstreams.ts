// The services that calls go to, one or several: the list of them, their links, and whose turn it is.

import { type Host, type OutgoingRequest, type Peer, type PeerResponse } from "../../base/ports.ts";
import { unlessAborted } from "../../base/aborts.ts";
import type { RoleFigures } from "../../base/ports/telemetry.ts";
import { type GatewayAddress, gatewayName, type Gateways } from "../../base/ports/gateways.ts";
import type { Way } from "../links/dialled-link.ts";
import type { ServiceLinks } from "../links/service-links.ts";
import type { Membership } from "../members/membership.ts";
import { isAmong } from "../links/watch-addresses.ts";
import { Resending } from "../resend/send-again.ts";
import { Upstream } from "./upstream.ts";
import { UpstreamTries, type UpstreamTriesParts } from "./upstream-tries.ts";
import { keptMs, patienceMs } from "../common/times.ts";

export interface UpstreamsParts extends Pick<UpstreamTriesParts, "isIdempotent"> {
  readonly host: Host;
  readonly links: ServiceLinks;
  readonly gateways: Gateways;
  /** Their possible roles. */
  readonly roles: readonly ("gateway" | "node" | "standalone")[];
  /** There is a new link to a service. */
  readonly onLinked?: (upstream: Upstream) => void;
  readonly onLost?: (upstream: Upstream) => void;
  /** For nodes, which are members of each. */
  readonly createMembership?: (upstream: Upstream) => Membership;
}

export class Upstreams implements Peer {
  readonly #parts: UpstreamsParts;
  readonly #tries: UpstreamTriesParts;
  readonly #resending: Resending<Upstream>;
  #all: readonly Upstream[] = [];
  #turn = 0;
  /** The address of this service, once it has begun to join. */
  #ownUrl: string | undefined;
  #known: Promise<void> | undefined;
  #unwatch = (): void => {};
  #isOver = false;

  constructor(parts: UpstreamsParts) {
    const { host, isIdempotent } = parts;
    this.#parts = parts;
    this.#tries = { host, isIdempotent, next: (tried) => this.#next(tried) };
    this.#resending = new Resending(host, () => this.#all);
  }

  /** The services that are known now. */
  get all(): readonly Upstream[] {
    return this.#all;
  }

  /** The states of the links to all of them. */
  get ways(): readonly Way[] {
    return this.#all.map(({ way }) => way);
  }

  /** The names of all of them, for errors. */
  get names(): string {
    return this.#all.map(({ url }) => url).join(", ");
  }

  /** Counts of calls that were sent again, by the reason. */
  get resent(): NonNullable<RoleFigures["resent"]> {
    return this.#resending.counts;
  }

  /** Sends a request to the service whose turn it is. `onSent` is called with the name of each that gets it. */
  send(request: OutgoingRequest, onSent?: (name: string) => void): Promise<PeerResponse> {
    if (this.#all.length === 0 && !this.#isOver) return this.#sendOnceKnown(request, onSent);
    return this.#resending.send(new UpstreamTries(this.#tries, request, onSent));
  }

  /** A peer that sends like this one, and calls `onSent` for each service that gets a request. */
  observed(onSent: (name: string) => void): Peer {
    return { send: (request) => this.send(request, onSent) };
  }

  /**
   * Links to all of them. A node, which listens at `ownUrl`, also joins them. Resolves when all have answered or
   * failed, or a second after the first one has accepted this service; the others are tried further. Rejects if one
   * refuses this service before that, as trying again wouldn't help.
   */
  async start(ownUrl = ""): Promise<void> {
    await this.#know();
    this.#ownUrl = ownUrl;
    const { clock } = this.#parts.host;
    let isStarting = true;
    let cancel: (() => void) | undefined;
    let end = (): void => {};
    const grace = new Promise<void>((resolve) => (end = resolve));
    const tries = this.#all.map(async (upstream) => {
      await this.#begin(upstream, ownUrl, () => isStarting);
      if (upstream.isTaken && isStarting) cancel ??= clock.after(patienceMs.gateways, end);
    });
    try {
      await Promise.race([Promise.all(tries), grace]);
    } finally {
      isStarting = false;
      cancel?.();
    }
  }

  /** Replaces the link to each, and joins over the new one: another gateway may be at the same address. */
  async renew(): Promise<void> {
    await Promise.all(this.#all.map(async ({ link }) => await link.renew()));
  }

  /** Announces to all gateways what this node has now. */
  async update(): Promise<void> {
    await Promise.all(this.#all.map(async ({ membership }) => await membership?.update()));
  }

  /** Leaves all gateways. Returns whether each of which this node is a member has confirmed it. */
  async leave(): Promise<boolean> {
    this.stop();
    const outcomes = await Promise.all(
      this.#all.map(async ({ membership }) => {
        const isMember = membership?.isMember === true;
        const isTold = await membership?.leave();
        return isMember ? isTold === true : undefined;
      }),
    );
    return outcomes.includes(true) && !outcomes.includes(false);
  }

  stop(): void {
    this.#isOver = true;
    this.#unwatch();
    for (const { stay } of this.#all) stay?.();
  }

  async #sendOnceKnown(
    request: OutgoingRequest,
    onSent: ((name: string) => void) | undefined,
  ): Promise<PeerResponse> {
    await unlessAborted(request.signal, this.#know());
    return await this.#resending.send(new UpstreamTries(this.#tries, request, onSent));
  }

  /** Resolves when the list of services is known. */
  #know(): Promise<void> {
    return (this.#known ??= new Promise((resolve) => {
      this.#unwatch = this.#parts.gateways.watch((gateways) => {
        if (this.#isOver) return;
        this.#listed(gateways);
        resolve();
      });
      if (this.#isOver) this.#unwatch();
    }));
  }

  #listed(gateways: readonly GatewayAddress[]): void {
    const names = gateways.map(gatewayName);
    for (const upstream of this.#all) {
      const hasMoved = isElsewhere(upstream, gateways);
      upstream.isListed = names.includes(upstream.url) && !hasMoved;
      if (hasMoved) this.#leaveSoon(upstream);
      else upstream.stay?.();
    }
    const known = this.#all.filter(({ isListed }) => isListed).map(({ url }) => url);
    const isFirst = this.#all.length === 0;
    for (const [at, gateway] of gateways.entries())
      if (!known.includes(names[at]!) && names.indexOf(names[at]!) === at)
        this.#add(gateway, isFirst);
    // A live link counts for more than the list.
    for (const upstream of this.#all)
      if (!upstream.isListed && !upstream.link.isLinked) this.#remove(upstream);
  }

  /** Other services that dial by name leave it for another gateway, so this one does, too, even if its link lives. */
  #leaveSoon(upstream: Upstream): void {
    if (upstream.stay !== undefined) return;
    const { clock, log } = this.#parts.host;
    const { url, link } = upstream;
    const seconds = keptMs.gateway / 1_000;
    log.info(`${url} isn't at ${link.address} any more; leaving the gateway there in ${seconds} s`);
    const cancel = clock.after(keptMs.gateway, () => this.#remove(upstream));
    upstream.stay = () => {
      cancel();
      upstream.stay = undefined;
    };
    this.#hurryTwins();
  }

  #add(gateway: GatewayAddress, isFirst: boolean): void {
    const { links, roles, createMembership } = this.#parts;
    const upstream = new Upstream(gateway, (dialling) =>
      links.dial(gateway, roles, {
        onLinked: async () => {
          this.#parts.onLinked?.(dialling);
          await dialling.membership?.linked();
        },
        twinOf: (instance) => this.#twinOf(dialling, instance),
        onLost: () => this.#lost(dialling),
      }),
    );
    upstream.membership = createMembership?.(upstream);
    const { clock } = this.#parts.host;
    const isFound = gateway.address !== undefined || gateway.resolved !== undefined;
    if (isFound && !isFirst) upstream.reserveUntil(clock.now() + keptMs.gateway);
    this.#all = [...this.#all, upstream];
    if (this.#ownUrl !== undefined) void this.#begin(upstream, this.#ownUrl, () => false);
  }

  #remove(upstream: Upstream): void {
    upstream.stay?.();
    this.#all = this.#all.filter((entry) => entry !== upstream);
    if (upstream.link.isLinked) this.#parts.onLost?.(upstream);
    // It never rejects.
    void Promise.resolve(upstream.membership?.leave()).then(() =>
      this.#parts.links.drop(upstream.link),
    );
    this.#hurryTwins();
  }

  #lost(upstream: Upstream): void {
    upstream.membership?.lost();
    this.#parts.onLost?.(upstream);
    if (!upstream.isListed) this.#remove(upstream);
    else this.#hurryTwins();
  }

  /** A process that was used under one name may be reachable under another one. */
  #hurryTwins(): void {
    for (const { link } of this.#all) if (link.isTwin) link.hurry();
  }

  /** The name of another upstream that is the same process. */
  #twinOf(upstream: Upstream, instance: string): string | undefined {
    // A process whose address has changed is linked to at the new one before the old link is left.
    const stays = (entry: Upstream): boolean => entry !== upstream && entry.stay === undefined;
    return this.#all.find((entry) => stays(entry) && entry.instance === instance)?.url;
  }

  /** Dials, and joins. Rejects if it is refused while this service is starting. */
  async #begin(upstream: Upstream, ownUrl: string, isStarting: () => boolean): Promise<void> {
    const { link, membership } = upstream;
    try {
      await link.start();
    } catch (refusal) {
      if (isStarting()) throw refusal;
      link.persist(refusal as Error);
    }
    await membership?.join(ownUrl);
  }

  /** The next service in turn that is likely to take a call, otherwise any that hasn't been tried. */
  #next(tried: readonly Upstream[]): Upstream | undefined {
    const all = this.#all;
    const now = this.#parts.host.clock.now();
    let reserve: Upstream | undefined;
    let last: Upstream | undefined;
    for (let step = 0; step < all.length; step++) {
      const at = (this.#turn + step) % all.length;
      const upstream = all[at]!;
      if (upstream.link.isTwin || tried.includes(upstream)) continue;
      if (!upstream.isReady(now)) last ??= upstream;
      else if (upstream.isReserve(now)) reserve ??= upstream;
      else {
        this.#turn = at + 1;
        return upstream;
      }
    }
    const found = reserve ?? last;
    if (found !== undefined) this.#turn = all.indexOf(found) + 1;
    return found;
  }
}

/** Whether its link is at an address that its name no longer has. */
function isElsewhere(
  { gateway: { url }, link }: Upstream,
  gateways: readonly GatewayAddress[],
): boolean {
  const withSameName = gateways.filter((gateway) => gateway.url === url);
  const addresses = withSameName.flatMap(({ address, resolved }) => address ?? resolved ?? []);
  const isKnown = addresses.length > 0 && link.address !== undefined;
  return isKnown && !isAmong(link.address, addresses);
}
