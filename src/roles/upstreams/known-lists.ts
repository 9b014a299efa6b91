// The lists of the services behind a proxy, as each has last sent its own: routes, procedures that may be sent
// again, and time limits. A proxy uses the union of all lists.

import { BackOff } from "../../base/back-off.ts";
import { BadRequest } from "../../base/errors.ts";
import type { Host, LinkedPeer } from "../../base/ports.ts";
import { anyUpstream, answerHeaders, routesPath } from "../../base/protocol.ts";
import { collected } from "../../http/bodies.ts";
import { createRouteTable, type RouteTable } from "../../http/route-table.ts";
import type { Route } from "../../http/router.ts";
import type { RouteInfo } from "../../runtime/routes.ts";
import { type MemberList, readList } from "../members/member-list.ts";
import { isDigest } from "../members/read-join.ts";
import { notFound } from "../../http/answers.ts";
import type { Upstream } from "./upstream.ts";
import { keptMs, retryMs } from "../common/times.ts";
import { maxDigestBytes } from "../common/limits.ts";

export interface KnownListsParts {
  readonly host: Pick<Host, "clock" | "log" | "digest">;
  readonly upstreams: () => readonly Teller[];
}

/** A service that publishes its list. */
export type Teller = Pick<Upstream, "url" | "instance" | "send">;

interface Known {
  list: MemberList | undefined;
  asking: Promise<void> | undefined;
  /** Whether the list has changed since the last request for it. */
  isStale: boolean;
  isLinked: boolean;
  readonly backOff: BackOff;
  /** The reason in the last warning since the list was received. */
  warned: string | undefined;
  /** Cancels the next request, or the timer that drops the list. */
  cancel: () => void;
}

export class KnownLists {
  readonly #parts: KnownListsParts;
  readonly #known = new Map<Teller, Known>();
  /** Routes that no list has any more, until they are dropped. */
  readonly #missing = new Map<string, { readonly route: RouteInfo; readonly cancel: () => void }>();
  #table: RouteTable<RouteInfo> = createRouteTable([]);
  #timeouts: ReadonlyMap<string, number> = new Map();
  #idempotent: ReadonlySet<string> = new Set();
  /** Takes announcements of new lists from the other ends of links. */
  readonly endpoint: Route;

  constructor(parts: KnownListsParts) {
    this.#parts = parts;
    this.endpoint = [
      "PUT",
      routesPath,
      async (request, { holdsKey }) => {
        const { via } = request;
        if (via === undefined || !holdsKey) return notFound();
        await this.#told(via, readDigest(await request.readBody(maxDigestBytes)));
        return { status: 204, headers: answerHeaders };
      },
    ];
  }

  /** All lists, each once: several services may have the same list. */
  readonly #lists = (): readonly MemberList[] => [
    ...new Set([...this.#known.values()].flatMap(({ list }) => list ?? [])),
  ];

  get table(): RouteTable<RouteInfo> {
    return this.#table;
  }

  /** How long, in ms, calls of procedures with a time limit may take. */
  get timeouts(): ReadonlyMap<string, number> {
    return this.#timeouts;
  }

  /** Procedures that may be sent again. */
  get idempotent(): ReadonlySet<string> {
    return this.#idempotent;
  }

  /** There is a link to the service: asks for its list. */
  linked(teller: Teller): void {
    const known = this.#of(teller);
    known.cancel();
    known.isLinked = true;
    known.backOff.reset();
    void this.#ask(teller, known);
  }

  /** The link is lost. */
  lost(teller: Teller): void {
    const known = this.#of(teller);
    known.cancel();
    known.isLinked = false;
    this.#forget(teller, known, false);
  }

  /** `isLate`: the services linked now may have been linked for a moment only, so their routes are still incomplete. */
  #forget(teller: Teller, known: Known, isLate: boolean): void {
    known.cancel = this.#parts.host.clock.after(keptMs.routes, () => {
      // Without any link the last known lists stay in force.
      const isTold = [...this.#known.values()].some(({ isLinked }) => isLinked);
      if (!isTold) return this.#forget(teller, known, true);
      this.#known.delete(teller);
      this.#changed(isLate);
    });
  }

  /** Resolves when all requests for lists are answered, or have failed. */
  async settled(): Promise<void> {
    await Promise.all([...this.#known.values()].map(async ({ asking }) => await asking));
  }

  stop(): void {
    for (const { cancel } of [...this.#known.values(), ...this.#missing.values()]) cancel();
  }

  #of(teller: Teller): Known {
    let known = this.#known.get(teller);
    if (known === undefined) {
      known = {
        list: undefined,
        asking: undefined,
        isStale: false,
        isLinked: false,
        backOff: new BackOff(retryMs.link),
        warned: undefined,
        cancel: () => {},
      };
      this.#known.set(teller, known);
    }
    return known;
  }

  async #told({ instance }: LinkedPeer, digest: string): Promise<void> {
    const teller = this.#parts.upstreams().find((upstream) => upstream.instance === instance);
    // Otherwise the link is over or isn't in use yet; the list is requested when it is.
    const known = teller && this.#known.get(teller);
    if (teller === undefined || known === undefined) return;
    const list = this.#lists().find((entry) => entry.digest === digest);
    if (list !== undefined && known.asking === undefined) return this.#take(known, list);
    await this.#ask(teller, known);
  }

  #ask(teller: Teller, known: Known): Promise<void> {
    known.isStale = known.asking !== undefined;
    return (known.asking ??= this.#asking(teller, known).finally(() => (known.asking = undefined)));
  }

  async #asking(teller: Teller, known: Known): Promise<void> {
    const { host } = this.#parts;
    try {
      do {
        known.isStale = false;
        this.#take(known, await this.#fetch(teller));
      } while (known.isStale);
      known.backOff.reset();
      known.warned = undefined;
    } catch (error) {
      // It is asked again over the next link.
      if (!known.isLinked) return;
      const { message } = error as Error;
      if (known.warned !== message)
        host.log.warn(`can't learn which routes ${teller.url} has (${message}); trying again`);
      known.warned = message;
      known.cancel = host.clock.after(known.backOff.next(), () => void this.#ask(teller, known));
    }
  }

  /** Requests a list, unless another service has sent the same one. */
  async #fetch(teller: Teller): Promise<MemberList> {
    const { host } = this.#parts;
    const lists = this.#lists();
    const { status, headers, body } = await collected(
      teller.send({
        url: anyUpstream + routesPath,
        method: "GET",
        headers:
          lists.length === 0
            ? {}
            : { "if-none-match": lists.map(({ digest }) => `"${digest}"`).join(", ") },
        from: "key",
        control: true,
      }),
    );
    const found = lists.find(({ digest }) => headers["etag"] === `"${digest}"`);
    if (status === 304 && found !== undefined) return found;
    if (status !== 200) throw new Error(`it answered ${status}`);
    return readList(body, host.digest(body));
  }

  #take(known: Known, list: MemberList): void {
    if (known.list === list) return;
    known.list = list;
    this.#changed();
  }

  #changed(keepsMissing = true): void {
    const lists = this.#lists();
    const routes = new Map(
      lists.flatMap((list) => list.routes.map((route) => [keyOf(route), route])),
    );
    for (const route of this.#table.all) {
      const key = keyOf(route);
      if (keepsMissing && !routes.has(key) && !this.#missing.has(key)) this.#miss(key, route);
    }
    for (const [key, { cancel }] of this.#missing)
      if (routes.has(key)) {
        cancel();
        this.#missing.delete(key);
      }
    this.#rebuild([...routes.values()]);
    this.#idempotent = new Set(lists.flatMap(({ idempotent }) => [...idempotent]));
    const timeouts = new Map<string, number>();
    for (const list of lists)
      for (const [fqn, ms] of list.timeouts)
        timeouts.set(fqn, Math.max(ms, timeouts.get(fqn) ?? 0));
    this.#timeouts = timeouts;
  }

  #miss(key: string, route: RouteInfo): void {
    const cancel = this.#parts.host.clock.after(keptMs.routes, () => {
      this.#missing.delete(key);
      this.#rebuild(this.#table.all.filter((known) => keyOf(known) !== key));
    });
    this.#missing.set(key, { route, cancel });
  }

  /** Of two routes with the same path the first one matches, so listed routes go before missing ones. */
  #rebuild(listed: readonly RouteInfo[]): void {
    const known = new Map(listed.map((route) => [keyOf(route), route]));
    for (const [key, { route }] of this.#missing) known.set(key, route);
    this.#table = createRouteTable([...known.values()]);
  }
}

function readDigest(body: Uint8Array): string {
  const wrong = new BadRequest('Invalid digest; expected {"digest": "…"}');
  try {
    const { digest } = (JSON.parse(new TextDecoder().decode(body)) ?? {}) as { digest?: unknown };
    if (isDigest(digest)) return digest;
  } catch {
    // Reported below.
  }
  throw wrong;
}

function keyOf({ name, method, path }: RouteInfo): string {
  return `${name} ${method} ${path}`;
}
