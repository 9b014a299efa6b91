// The console of a service: what its endpoint knows, and for whom. It watches while somebody looks, and for a minute after.

import type { Health } from "../health.ts";
import type { ObservedCall } from "../placement.ts";
import type { Host, HttpRequest, HttpResponse } from "../ports.ts";
import { consolePath } from "../protocol.ts";
import { createCredentials } from "../trust.ts";
import { createDoors } from "./doors.ts";
import { createSessions } from "./sessions.ts";
import type {
  ConsoleChange,
  ConsoleState,
  MemberState,
  ProcedureState,
  ServiceState,
} from "./state.ts";
import type { Cursor, View } from "./stream.ts";
import { type CallObserver, Watch } from "./watch.ts";

export type { CallObserver };

/** What a role shows: asked while somebody looks, about once a second. */
export interface ConsoleSource {
  readonly mode: string;
  readonly name?: string | undefined;
  members(): readonly MemberState[];
  /** The same list as long as nothing in it changes. */
  procedures(): readonly ProcedureState[];
  /** Somebody began to look; the returned function is called when nobody does any more. `local` takes calls inside the process. */
  look?(local: (call: ObservedCall, to: string) => void): () => void;
}

/** What the role lends. */
export interface ConsoleRole {
  readonly source: ConsoleSource;
  readonly health: Health;
  /** The RPC door. */
  readonly rpc: (request: HttpRequest) => Promise<HttpResponse>;
}

export interface ConsoleOptions {
  readonly trustKey: string | undefined;
  /** The service listens with https: the cookie is `Secure`. */
  readonly secure: boolean;
  /** The page's own files by name (`index.html`, `console.js` …). */
  readonly file: (name: string, request: HttpRequest) => Promise<HttpResponse | undefined>;
}

/** `/svc/console` of one service. Give it to the role that it is to show. */
export interface Console {
  /** There while somebody looks. */
  readonly observer: CallObserver | undefined;
  /** Answers what is the console's; `undefined` for everything else, and for those who may not know of it. */
  handle(request: HttpRequest): Promise<HttpResponse | undefined>;
  /** A new link for one person: `/svc/console#token=…` below `base`, or below the address where the role was started. */
  link(base?: string): string;
  /** By the role, once. */
  attach(role: ConsoleRole): void;
  /** By the role: where it listens. */
  start(url: string): void;
  /** Ends all streams. */
  stop(): void;
}

/** Watching goes on so long after the last one looked, in ms: a page that is loaded again still has its figures. */
const lingering = 60_000;
/** Members, checks and figures are asked again after so long, in ms. */
const glance = 1_000;
const checksTime = 5_000;

export function createConsole(host: Host, options: ConsoleOptions): Console {
  const { clock } = host;
  const credentials = createCredentials(options.trustKey, host);
  const sessions = createSessions(clock, host.equalSecrets);
  const sleepers = new Set<() => void>();
  let role: ConsoleRole | undefined;
  let url = "";
  let stopped = false;
  let watch: Watch | undefined;
  let lookers = 0;
  let leave = (): void => {};
  let cancelLeave = (): void => {};
  let checks: ServiceState["checks"] = {};
  let checked = -Infinity;
  let glanced = -Infinity;
  let members: readonly MemberState[] = [];
  let procedures: readonly ProcedureState[] = [];
  let signature = "";

  const begin = (): Watch => {
    cancelLeave();
    if (watch !== undefined) return watch;
    const made = (watch = new Watch(clock, credentials.of));
    leave = role?.source.look?.((call, to) => made.local(call, to)) ?? (() => {});
    return made;
  };

  const unwatch = (): void => {
    leave();
    leave = () => {};
    watch = undefined;
  };

  /** Somebody looks, until the returned function is called. */
  const look = (): (() => void) => {
    lookers++;
    begin();
    return () => {
      lookers--;
      cancelLeave();
      if (lookers === 0) cancelLeave = clock.after(lingering, unwatch);
    };
  };

  const refresh = (): void => {
    const now = clock.now();
    if (role === undefined || now - glanced < glance) return;
    glanced = now;
    if (now - checked >= checksTime) {
      checked = now;
      void role.health.details().then((details) => (checks = details));
    }
    const found = role.source.members();
    procedures = role.source.procedures();
    // Leases run down and checks are done all the time: every few seconds is enough for those.
    const often = found.some(({ lease }) => lease !== undefined) ? Math.floor(now / checksTime) : 0;
    const signed = JSON.stringify([
      often,
      ...found.map(({ lease: _, checked: __, ...rest }) => rest),
    ]);
    if (signed === signature) return;
    signature = signed;
    members = found;
  };

  const service = (): ServiceState => {
    const name = role?.source.name;
    return { mode: role?.source.mode ?? "", url, ...(name === undefined ? {} : { name }), checks };
  };

  const view: View = {
    get stopped() {
      return stopped;
    },
    snapshot() {
      const seen = begin();
      refresh();
      const { rates, revision } = seen.rates(0);
      const { calls } = seen.after(0);
      const state: ConsoleState = {
        format: 1,
        service: service(),
        members,
        procedures,
        figures: seen.figures(),
        rates: rates.filter((one) => one.calls > 0),
        calls,
      };
      const cursor: Cursor = {
        call: seen.number,
        rates: revision,
        members,
        procedures,
        service: JSON.stringify(state.service),
      };
      return { state, cursor };
    },
    change(cursor) {
      const seen = begin();
      refresh();
      const { calls, flows } = seen.after(cursor.call);
      const { rates, revision } = seen.rates(cursor.rates);
      const described = service();
      const text = JSON.stringify(described);
      const figures = seen.figures();
      const change: ConsoleChange = {
        figures,
        flows,
        calls,
        ...(rates.length === 0 ? {} : { rates }),
        ...(members === cursor.members ? {} : { members }),
        ...(procedures === cursor.procedures ? {} : { procedures }),
        ...(text === cursor.service ? {} : { service: described }),
      };
      Object.assign(cursor, {
        call: seen.number,
        rates: revision,
        members,
        procedures,
        service: text,
      });
      // Besides these there is the time.
      const quiet = Object.keys(change).length === 3 && calls.length === 0 && figures.open === 0;
      return quiet && figures.seconds.every(([count]) => count === 0) ? undefined : change;
    },
    pause: (ms, signal) =>
      new Promise((resolve) => {
        if (stopped || signal.aborted) return resolve();
        const wake = (): void => {
          cancel();
          sleepers.delete(wake);
          signal.removeEventListener("abort", wake);
          resolve();
        };
        const cancel = clock.after(ms, wake);
        sleepers.add(wake);
        signal.addEventListener("abort", wake);
      }),
  };

  const doors = createDoors({
    options,
    credentials,
    sessions,
    view,
    look,
    call: async (request) => {
      if (role === undefined) return undefined;
      return await (watch === undefined
        ? role.rpc(request)
        : watch.call(request, role.rpc, "console"));
    },
  });

  return {
    get observer() {
      return watch;
    },
    handle: async (request) => (stopped ? undefined : await doors(request)),
    link: (base = url) => `${reachable(base)}${consolePath}#token=${sessions.token()}`,
    attach(given) {
      role = given;
    },
    start(given) {
      url = given;
    },
    stop() {
      stopped = true;
      cancelLeave();
      unwatch();
      for (const wake of sleepers) wake();
    },
  };
}

/** `0.0.0.0` is where a service listens, and no address that one opens. */
function reachable(base: string): string {
  return base
    .replace(/^(https?:\/\/)0\.0\.0\.0(?=[:/]|$)/, "$1127.0.0.1")
    .replace(/^(https?:\/\/)\[::\](?=[:/]|$)/, "$1[::1]");
}
