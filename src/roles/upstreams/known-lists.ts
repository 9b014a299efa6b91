// What the services behind a proxy take, as each has last told: routes, procedures that may be sent again,
// and time limits. A proxy goes by all of their lists together.

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

export interface KnownListsParts {
  readonly host: Pick<Host, "clock" | "log" | "digest">;
  readonly upstreams: () => readonly Teller[];
}

/** A service that tells its list. */
export type Teller = Pick<Upstream, "url" | "instance" | "send">;

interface Known {
  list: MemberList | undefined;
  asking: Promise<void> | undefined;
  /** Another list is there since the last question. */
  isStale: boolean;
  isLinked: boolean;
  readonly backOff: BackOff;
  /** What the last warning was about, since it was had. */
  warned: string | undefined;
  /** Cancels the next question, or that the list is forgotten. */
  cancel: () => void;
}

export class KnownLists {
  readonly #parts: KnownListsParts;
  readonly #known = new Map<Teller, Known>();
  /** Routes that no list has any more, with what makes them forgotten. */
  readonly #missing = new Map<string, { readonly route: RouteInfo; readonly cancel: () => void }>();
  #table: RouteTable<RouteInfo> = createRouteTable([]);
  #timeouts: ReadonlyMap<string, number> = new Map();
  #idempotent: ReadonlySet<string> = new Set();
  /** Hears from the other ends of its links that they have another list. */
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

  /** Each once, as several services may have the same. */
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

  /** `isLate`: what is linked to now may have been so for a moment only. */
  #forget(teller: Teller, known: Known, isLate: boolean): void {
    known.cancel = this.#parts.host.clock.after(keptMs.routes, () => {
      // While nothing tells what there is, what was there counts.
      const isTold = [...this.#known.values()].some(({ isLinked }) => isLinked);
      if (!isTold) return this.#forget(teller, known, true);
      this.#known.delete(teller);
      this.#changed(isLate);
    });
  }

  /** Resolves when all questions are answered, or have failed. */
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
    // Of a link that is over, or just about to be used: then the list is asked for.
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
      // Over the next link it is asked again.
      if (!known.isLinked) return;
      const { message } = error as Error;
      // Not at each try.
      if (known.warned !== message)
        host.log.warn(`can't learn which routes ${teller.url} has (${message}); trying again`);
      known.warned = message;
      known.cancel = host.clock.after(known.backOff.next(), () => void this.#ask(teller, known));
    }
  }

  /** Lists that another service has told needn't come again. */
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

  /** Of two with the same path the first matches: the one that is listed. */
  #rebuild(listed: readonly RouteInfo[]): void {
    const known = new Map(listed.map((route) => [keyOf(route), route]));
    for (const [key, { route }] of this.#missing) known.set(key, route);
    this.#table = createRouteTable([...known.values()]);
  }
}

/** For `{"digest":"…"}`. */
const maxDigestBytes = 1_024;

function readDigest(body: Uint8Array): string {
  const wrong = new BadRequest('The body is no digest; expected {"digest": "…"}');
  try {
    const { digest } = (JSON.parse(new TextDecoder().decode(body)) ?? {}) as { digest?: unknown };
    if (isDigest(digest)) return digest;
  } catch {
    // It says so below.
  }
  throw wrong;
}

function keyOf({ name, method, path }: RouteInfo): string {
  return `${name} ${method} ${path}`;
}
