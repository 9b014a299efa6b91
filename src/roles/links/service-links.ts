// The links of a service: those that it has dialled, and those that others have dialled to it.

import type { GatewayAddress } from "../../base/ports/gateways.ts";
import type { LinkAnswer, LinkUpgrade } from "../../base/ports/links.ts";
import type { Host, HttpRequest, HttpResponse, Peer } from "../../base/ports.ts";
import type { RoleFigures } from "../../base/ports/telemetry.ts";
import type { Limits } from "../../base/limits.ts";
import type { TrustKey } from "../../http/trust.ts";
import { dialersOf } from "../../link/directions.ts";
import type { Link } from "../../link/link.ts";
import { createAccepting, type LinkService, type ProvenLink } from "../../link/proven-link.ts";
import { RareLines } from "../common/rare-lines.ts";
import { DialledLink, type DialledLinkParts } from "./dialled-link.ts";
import { watchAddresses } from "./watch-addresses.ts";
import { patienceMs } from "../common/times.ts";
import { controlCalls } from "../../link/limits.ts";

export interface ServiceLinksParts {
  readonly host: Host;
  readonly role: "gateway" | "node" | "proxy" | "repository" | "standalone";
  /** This process [a random id]. */
  readonly instance?: string;
  /** The build that this service runs now. */
  readonly build?: () => string | undefined;
  /** Both ends prove that they have it. */
  readonly trustKey: TrustKey;
  /** `false`: something between services ends TLS [true]. */
  readonly endToEndTls?: boolean | undefined;
  readonly limits: Pick<Limits, "maxCalls">;
  /** Called for links of proxies. */
  readonly proxies?: LinkEvents | undefined;
  /** A link that another service had dialled is over. */
  readonly onLost?: (via: Peer, why: string) => void;
}

type Handle = (request: HttpRequest) => Promise<HttpResponse>;

interface LinkEvents {
  linked(other: Peer): void;
  lost(other: Peer): void;
}

/** Callbacks and settings for a link that a service dials. */
export type DialEvents = Partial<
  Pick<DialledLinkParts, "onLinked" | "twinOf" | "onLost" | "watch" | "patienceMs">
>;

export class ServiceLinks {
  readonly #parts: ServiceLinksParts;
  readonly #service: LinkService;
  readonly #accepted = new Set<ProvenLink>();
  readonly #dialled = new Set<DialledLink>();
  /** Answers requests for a link. `undefined`: no role may dial this service. */
  readonly accept: ((upgrade: LinkUpgrade) => LinkAnswer) | undefined;
  /** Limits lines about refused links, so a stranger that keeps asking can't fill the log. */
  readonly #refusals: RareLines;
  /** Limits lines about invalid answers. */
  readonly #badAnswers: RareLines;
  #handle: Handle = () => Promise.reject(new Error("This service takes no requests over links"));
  #isStopped = false;

  constructor(parts: ServiceLinksParts) {
    const { host, role, trustKey, limits } = parts;
    const { endToEndTls, instance = crypto.randomUUID(), build } = parts;
    this.#parts = parts;
    this.#refusals = new RareLines(host.clock);
    this.#badAnswers = new RareLines(host.clock);
    this.#service = {
      host,
      trustKey,
      endToEndTls,
      role,
      instance,
      build,
      mostCalls: limits.maxCalls + controlCalls,
      versions: host.links.versions,
      soon: host.links.soon,
      handle: (request) => this.#handle(request),
      sending: host.links.sending,
      // A bug in one answer: other calls go on.
      onFault: (fault) => host.log.error("a request could not be answered", fault),
      onBadAnswer: (error) => this.#badAnswer(error),
    };
    const dialers = dialersOf(role);
    if (dialers.length > 0) {
      const accept = createAccepting(this.#service, {
        roles: dialers,
        onRefusal: (from, why) => this.#refused(from, why),
        onLink: (proven) => this.#accepts(proven),
      });
      this.accept = (upgrade) => (this.#isStopped ? undefined : accept(upgrade));
    }
  }

  /** Sets the function that answers requests over links. */
  serve(handle: Handle): void {
    this.#handle = this.#parts.host.links.around?.(handle) ?? handle;
  }

  /** Creates a link to a service with one of these roles. Its `start` opens it. */
  dial(
    base: string | GatewayAddress,
    roles: readonly string[],
    { onLinked = () => {}, ...events }: DialEvents = {},
  ): DialledLink {
    const { host } = this.#parts;
    const dialled = new DialledLink({
      host,
      to: typeof base === "string" ? { url: base } : base,
      roles,
      service: this.#service,
      dial: host.links.dial,
      onLinked,
      ...events,
    });
    this.#dialled.add(dialled);
    return dialled;
  }

  /** A link of its own to a repository: calls don't share a link with modules and files. */
  toRepository(url: string, events: DialEvents = {}): DialledLink {
    return this.dial(url, ["repository", "standalone"], events);
  }

  /**
   * The same for as long as this service runs: it follows the repository's name, and a repository that is back
   * serves the next request at once.
   */
  keptToRepository(url: string, onLinked: () => void): DialledLink {
    return this.toRepository(url, {
      onLinked,
      patienceMs: patienceMs.file,
      watch: (onLookup) => watchAddresses(this.#parts.host, url, onLookup),
    });
  }

  /** Retires a link once the calls on it have ended. */
  drop(dialled: DialledLink): void {
    // Until then its calls count, and a stopping service waits for them.
    void dialled.retire().then(() => this.#dialled.delete(dialled));
  }

  #accepts(proven: ProvenLink): void {
    const { host, onLost, proxies } = this.#parts;
    this.#accepted.add(proven);
    // Nodes are logged when they join.
    const isProxy = proven.other.role === "proxy";
    if (isProxy) {
      host.log.info("a proxy has linked to this service");
      proxies?.linked(proven.peer);
    }
    void proven.closed.then((cause) => {
      this.#accepted.delete(proven);
      const why = cause instanceof Error ? cause.message : String(cause);
      if (isProxy && !this.#isStopped) host.log.info(`the link of a proxy is over (${why})`);
      proxies?.lost(proven.peer);
      if (!this.#isStopped) onLost?.(proven.peer, why);
    });
  }

  #refused(from = "another service", why: string): void {
    const unlogged = this.#refusals.next();
    if (unlogged === undefined) return;
    const others = unlogged === 0 ? "" : `; ${unlogged} other refusals since the last line`;
    this.#parts.host.log.warn(`refused a link to ${from}: ${why}${others}`, {
      event: "link-refused",
    });
  }

  #badAnswer({ message }: Error): void {
    const unlogged = this.#badAnswers.next();
    if (unlogged === undefined) return;
    const others = unlogged === 0 ? "" : `; ${unlogged} other such answers since the last line`;
    this.#parts.host.log.warn(`${message}${others}`, { event: "bad-answer" });
  }

  get figures(): RoleFigures["links"] {
    const dialled = [...this.#dialled].reduce((sum, way) => sum + [...way.links()].length, 0);
    return { dialled, accepted: this.#accepted.size };
  }

  /** Tells the other ends to send no more calls. */
  drain(): void {
    for (const link of this.#links()) void link.drain();
  }

  /**
   * Resolves when the received calls are answered. Cuts those that still run after `graceMs`, and returns their
   * number.
   */
  async finish(graceMs: number, reason: Error): Promise<number> {
    const finished = Promise.all(this.#links().map((link) => link.finished()));
    if (await this.#inTime(finished, graceMs)) return 0;
    const count = this.#links().reduce((sum, link) => sum + link.cut(reason), 0);
    await this.#inTime(finished, patienceMs.cut);
    return count;
  }

  stop(): void {
    this.#isStopped = true;
    for (const dialled of this.#dialled) dialled.stop();
    for (const { link } of this.#accepted) link.close(new Error("This service has stopped"));
  }

  #links(): readonly Link[] {
    const dialled = [...this.#dialled].flatMap((way) => [...way.links()]);
    return [...this.#accepted, ...dialled].map(({ link }) => link);
  }

  async #inTime(act: Promise<unknown>, ms: number): Promise<boolean> {
    let cancel = (): void => {};
    const late = new Promise<boolean>((resolve) => {
      cancel = this.#parts.host.clock.after(ms, () => resolve(false));
    });
    try {
      return await Promise.race([act.then(() => true), late]);
    } finally {
      cancel();
    }
  }
}
