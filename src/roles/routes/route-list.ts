// Lists of routes between services: nodes send theirs to the gateway, and a proxy asks for all.

import { bounded } from "../../base/aborts.ts";
import { BadRequest, Unauthorized } from "../../base/errors.ts";
import { type Host, isLocalFailure, type Peer, TransportError } from "../../base/ports.ts";
import { answerHeaders, defaultLeaseMs, mediaTypes, routesPath } from "../../base/protocol.ts";
import { collected } from "../../http/bodies.ts";
import { readRoute } from "../../http/route-pattern.ts";
import { createRouteTable, type RouteTable } from "../../http/route-table.ts";
import type { Route } from "../../http/router.ts";
import { type Credentials, trustKeyHeader, type TrustKey } from "../../http/trust.ts";
import type { RouteInfo } from "../../runtime/routes.ts";

/** Checks a list of routes. */
export function readRoutes(value: unknown): readonly RouteInfo[] {
  const wrong = (): BadRequest =>
    new BadRequest(
      '\'routes\' is not a list of routes; expected [{"name": "…", "method": "POST", "path": "/…"}]',
    );
  if (!Array.isArray(value)) throw wrong();
  return value.map((item: unknown) => {
    const { name, method, path } = (item ?? {}) as Readonly<Record<string, unknown>>;
    if (typeof name !== "string" || name === "") throw wrong();
    if (typeof method !== "string" || typeof path !== "string") throw wrong();
    const route = readRoute(`${method} ${path}`);
    if ("message" in route) throw new BadRequest(`The route '${name}': ${route.message}`);
    return { name, ...route };
  });
}

/** Checks the time limits of procedures, in ms. Services of an older version name none. */
export function readTimeouts(value: unknown): ReadonlyMap<string, number> {
  const entries = Object.entries(value ?? {}) as [string, unknown][];
  const isTime = (ms: unknown): ms is number => Number.isSafeInteger(ms) && (ms as number) > 0;
  if (typeof (value ?? {}) !== "object" || !entries.every(([, ms]) => isTime(ms)))
    throw new BadRequest(
      `'timeouts' doesn't give times in ms; expected {"…": 200} with whole numbers above 0`,
    );
  return new Map(entries as [string, number][]);
}

/** Whether a value is a list of names, none of them empty. */
export function areNames(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((name) => typeof name === "string" && name !== "");
}

/** Checks a list of names. Services of an older version send none. */
function readNames(value: unknown = []): ReadonlySet<string> {
  if (!areNames(value))
    throw new BadRequest("'idempotent' is not a list of the names of procedures");
  return new Set(value);
}

/** What a service tells a proxy in front of it. */
export interface Listed {
  readonly routes: readonly RouteInfo[];
  /** The time limits in ms of its procedures. Missing if the service keeps them for its callers. */
  readonly timeouts?: Readonly<Record<string, number>>;
  /** Procedures that a proxy may send again, to another gateway, if there is no answer. */
  readonly idempotent?: readonly string[];
}

/** Asks for the names of procedures that may be sent again, too. */
const askForIdempotent = "?idempotent";

/** The endpoint that lists the routes of a service. `idempotent` names procedures, if it is asked for. */
export function routeListEndpoint(
  host: Pick<Host, "sign">,
  credentials: Credentials,
  list: () => Listed,
  idempotent: () => readonly string[] | undefined = () => undefined,
): Route {
  return [
    "GET",
    routesPath,
    (request) => {
      if (!credentials.of(request).holdsKey)
        throw new Unauthorized("The list of routes needs the trust key of this deployment");
      const isAsked = request.target.endsWith(askForIdempotent);
      const names = isAsked ? idempotent() : undefined;
      const body = JSON.stringify({ ...list(), ...(names !== undefined && { idempotent: names }) });
      const etag = `"${host.sign("routes", body)}"`;
      const headers = { "content-type": mediaTypes.json, ...answerHeaders, etag };
      return request.headers["if-none-match"] === etag
        ? { status: 304, headers }
        : { status: 200, headers, body };
    },
  ];
}

/** The routes of the service behind a proxy, as it last said. */
export interface FetchedRoutes {
  readonly table: RouteTable<RouteInfo>;
  /** How long, in ms, calls of procedures with a time limit may take there. */
  readonly timeouts: ReadonlyMap<string, number>;
  /** Procedures that may be sent again. */
  readonly idempotent: ReadonlySet<string>;
  /** Asks once, and goes on asking. */
  start(): Promise<void>;
  stop(): void;
}

/** How long a service may take to answer. */
const answerTimeoutMs = 2_000;
/** While the service behind may be starting, ask this often. */
const unsettledAskMs = 500;
/**
 * A gateway that has just started learns of its nodes one by one. As long as that may take, ask
 * more often, and remember routes that its list no longer has. Requests for those go to the
 * gateway, which decides.
 */
const unsettledMs = defaultLeaseMs;

export function createFetchedRoutes(
  host: Host,
  options: {
    readonly base: string;
    /** What errors call it [its address]. */
    readonly name?: () => string;
    /** The way to it [HTTP]. */
    readonly peer?: Peer | undefined;
    readonly trustKey: TrustKey;
    readonly intervalMs: number;
    /** Whether requests could be sent again: there are several services behind the proxy. */
    readonly mayRepeat?: () => boolean;
    /** Whether the log has said already that it is away. */
    readonly isTold?: () => boolean;
  },
): FetchedRoutes {
  const {
    base,
    name = () => base,
    peer = host.transport,
    trustKey,
    intervalMs,
    mayRepeat,
    isTold,
  } = options;
  let listed: readonly RouteInfo[] = [];
  let timeouts: ReadonlyMap<string, number> = new Map();
  let idempotent: ReadonlySet<string> = new Set();
  let missing: readonly { readonly route: RouteInfo; readonly until: number }[] = [];
  let table = createRouteTable<RouteInfo>([]);
  let unsettledUntil = -Infinity;
  const unsettle = (): number => (unsettledUntil = host.clock.now() + unsettledMs);
  let etag: string | undefined;
  let stopped = false;
  let cancel = (): void => {};
  // Of two with the same path the first matches: the one that is listed.
  const rebuild = (): void => {
    table = createRouteTable([...listed, ...missing.map(({ route }) => route)]);
  };
  const forget = (): void => {
    const left = missing.filter(({ until }) => until > host.clock.now());
    if (left.length === missing.length) return;
    missing = left;
    rebuild();
  };
  const fetchRoutes = async (): Promise<void> => {
    const answer = await bounded(
      undefined,
      host.clock,
      answerTimeoutMs,
      () => new Error(`${name()} didn't list its routes in ${answerTimeoutMs / 1000} s`),
      (signal) =>
        collected(
          peer.send({
            url: base + routesPath + (mayRepeat?.() ? askForIdempotent : ""),
            method: "GET",
            headers: {
              ...trustKeyHeader(trustKey),
              ...(etag !== undefined && { "if-none-match": etag }),
            },
            signal,
            control: true,
          }),
        ),
    );
    if (answer.status === 304) return;
    // A service of an earlier version has no routes.
    if (answer.status === 404) return void (etag = "");
    if (answer.status !== 200)
      throw new Error(`${name()} answered ${answer.status} when asked for its routes`);
    const list = JSON.parse(new TextDecoder().decode(answer.body)) as Partial<
      Record<keyof Listed, unknown>
    >;
    const previous = table.all;
    listed = readRoutes(list.routes);
    timeouts = readTimeouts(list.timeouts);
    idempotent = readNames(list.idempotent);
    const keys = new Set(listed.map(keyOf));
    const lost = previous.filter((route) => !keys.has(keyOf(route)));
    const since = new Map(missing.map(({ route, until }) => [keyOf(route), until]));
    if (lost.some((route) => !since.has(keyOf(route)))) unsettle();
    missing = lost.map((route) => ({ route, until: since.get(keyOf(route)) ?? unsettledUntil }));
    rebuild();
    etag = String(answer.headers["etag"]);
  };
  let failed = false;
  let warned = false;
  const ask = async (): Promise<void> => {
    try {
      await fetchRoutes();
      if (failed) unsettle();
      failed = warned = false;
    } catch (error) {
      // Requests go by the last list. A service that just isn't up yet is no reason to warn.
      const isStarting = etag === undefined && error instanceof TransportError;
      const isNews = !isLocalFailure(error) && !isStarting && isTold?.() !== true;
      if (isNews && !warned) {
        warned = true;
        host.log.warn(`can't update the routes: ${(error as Error).message}`);
      }
      failed = true;
    }
    forget();
    if (stopped) return;
    const isSettled = etag !== undefined && host.clock.now() >= unsettledUntil;
    const waitMs = isSettled ? intervalMs : Math.min(unsettledAskMs, intervalMs);
    cancel = host.clock.after(waitMs, () => void ask());
  };
  return {
    get table() {
      return table;
    },
    get timeouts() {
      return timeouts;
    },
    get idempotent() {
      return idempotent;
    },
    async start() {
      unsettle();
      await ask();
    },
    stop() {
      stopped = true;
      cancel();
    },
  };
}

function keyOf({ name, method, path }: RouteInfo): string {
  return `${name} ${method} ${path}`;
}
