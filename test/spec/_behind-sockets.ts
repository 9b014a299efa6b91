// Single roles behind sockets of this process, that can be stopped and killed, and callers that keep them
// busy.

import { createServer, type Socket, connect } from "node:net";
import { setTimeout as pause } from "node:timers/promises";

import { onTestFinished } from "vitest";

import { nodeHost } from "../../server/http/host.ts";
import { type HttpServer, listen, type ListenOptions } from "../../server/http/http.ts";
import { HeldMemory } from "../../server/host/held-memory.ts";
import { createLinkHost } from "../../server/http/links/dial.ts";
import { NodeNotAvailable } from "../../src/base/errors.ts";
import type { Clock, Host } from "../../src/base/ports.ts";
import type { Channel, LinkAnswer } from "../../src/base/ports/links.ts";
import type { Role } from "../../src/roles/pipeline/role.ts";
import { TestLog } from "../_cluster.ts";

export { TestClock } from "../_cluster.ts";
export { routeModules, type TestRoute } from "../_routes.ts";
export { body, names } from "./_shop.ts";

export interface Running<R extends Role = Role> {
  readonly role: R;
  readonly url: string;
  readonly memory: HeldMemory;
  readonly log: TestLog;
  /** As a signal does: leaves, finishes what runs, ends. */
  stop(): Promise<void>;
  /** All of its connections break, and nothing of it is heard any more. */
  kill(): Promise<void>;
}

export interface Behind {
  /** Another release's versions of the link's protocol. */
  readonly versions?: readonly [lowest: number, highest: number];
  readonly clock?: Clock;
  readonly tls?: ListenOptions["tls"];
  readonly authorities?: readonly string[];
  readonly port?: number;
  /** Where it listens [127.0.0.1]. */
  readonly address?: string;
  /** The addresses of host names, for lookups and for its links. */
  readonly resolve?: (host: string) => readonly string[];
  /** Others find it at an address that is gone when it is killed. */
  readonly isMortal?: boolean;
}

/** The answer to who asks for a link, whose channel is kept in `channels`. */
export function keeping(channels: { add(channel: Channel): void }, answer: LinkAnswer): LinkAnswer {
  if (answer === undefined || !("open" in answer)) return answer;
  return {
    ...answer,
    open(channel) {
      channels.add(channel);
      answer.open(channel);
    },
  };
}

export async function behindSocket<R extends Role>(
  create: (host: Host) => R,
  behind: Behind = {},
): Promise<Running<R>> {
  const { versions, clock, tls, authorities, resolve, isMortal = false } = behind;
  const { port = 0, address = "127.0.0.1" } = behind;
  const log = new TestLog();
  const memory = new HeldMemory();
  const channels = new Set<Channel>();
  let isDead = false;
  const links = createLinkHost({ authorities, memory });
  const host = nodeHost({
    log,
    memory,
    ...(clock && { clock }),
    ...(resolve && { names: { resolve: async (name: string) => resolve(name) } }),
    links: {
      ...links,
      versions,
      async dial(base, to = resolve?.(new URL(base).hostname)[0], dialing) {
        if (isDead) throw new Error("it was killed");
        const channel = await links.dial(base, to, dialing);
        // It may have been killed meanwhile.
        if (isDead) channel.close();
        channels.add(channel);
        return channel;
      },
    },
  });
  const role = create(host);
  const server: HttpServer = await listen((request) => role.handle(request), {
    host: address,
    port,
    memory,
    ...(tls && { tls }),
    acceptLink: role.accept && ((upgrade) => keeping(channels, role.accept!(upgrade))),
    onFault: (fault) => log.error("fault", fault),
  });
  const way = isMortal ? await proxyBetween(server.url, false) : undefined;
  const { url } = way ?? server;
  let ended: Promise<void> | undefined;
  const end = async (graceMs: number): Promise<void> => {
    server.drain();
    // If its gateway hasn't confirmed that it left, it serves on, as `startServer` does.
    if (graceMs > 0 && !(await role.leave())) await pause(1_000);
    role.refuseCalls();
    await Promise.all([
      server.close(graceMs),
      role.finishCalls(graceMs, new NodeNotAvailable("This service has stopped")),
    ]);
    await role.stop();
  };
  const running: Running<R> = {
    role,
    url,
    memory,
    log,
    stop: () => (ended ??= end(5_000)),
    kill: () =>
      (ended ??= (async () => {
        isDead = true;
        way?.cut();
        for (const channel of channels) channel.close();
        await server.close(0);
      })()),
  };
  onTestFinished(async () => await (ended ??= end(0)));
  await role.start(url);
  return running;
}

/** The results of calls, by status and `x-svc-error`. */
export interface Load {
  readonly outcomes: Map<string, number>;
  /** In ms, of those that were answered with 200. */
  readonly times: number[];
  /** Resolves when so many calls have ended since. */
  more(calls: number): Promise<void>;
  /** Resolves when the calls that run have ended. */
  end(): Promise<void>;
}

/** Callers that call again as soon as they have an answer. `call` returns what came of it. */
export function keepCalling(callers: number, call: (number: number) => Promise<string>): Load {
  const outcomes = new Map<string, number>();
  const times: number[] = [];
  const waiting: { at: number; resolve: () => void }[] = [];
  const run = { isOver: false };
  let begun = 0;
  let ended = 0;
  const caller = async (): Promise<void> => {
    while (!run.isOver) {
      const since = performance.now();
      const outcome = await call(begun++).catch((error: unknown) => String(error));
      outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
      if (outcome.startsWith("200")) times.push(performance.now() - since);
      ended++;
      for (const entry of waiting.filter(({ at }) => at <= ended)) entry.resolve();
    }
  };
  const all = Array.from({ length: callers }, caller);
  return {
    outcomes,
    times,
    more: (calls) => new Promise((resolve) => waiting.push({ at: ended + calls, resolve })),
    async end() {
      run.isOver = true;
      await Promise.all(all);
    },
  };
}

/** Something between services. `strips`: takes upgrades away, as many reverse proxies do. */
export interface Between {
  readonly url: string;
  strips: boolean;
  /** Breaks all connections, and takes no more. */
  cut(): void;
}

/** Passes on what comes from either end, until one of them closes. `strips`: without upgrades. */
export function joinSockets(
  socket: Socket,
  behind: Socket,
  sockets: Set<Socket>,
  strips: () => boolean,
): void {
  for (const end of [socket, behind]) {
    sockets.add(end);
    end.on("error", () => {});
    end.on("close", () => {
      socket.destroy();
      behind.destroy();
    });
  }
  socket.on("data", (bytes) => {
    const text = bytes.toString("latin1");
    const stripped = text.replace(/\r\n(?:connection: upgrade|upgrade: [^\r]*)/gi, "");
    behind.write(strips() ? stripped : text, "latin1");
  });
  behind.pipe(socket);
}

export async function proxyBetween(target: string, strips = true): Promise<Between> {
  const { hostname, port } = new URL(target);
  const sockets = new Set<Socket>();
  const server = createServer((socket) =>
    joinSockets(socket, connect(Number(port), hostname), sockets, () => between.strips),
  );
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  const cut = (): void => {
    server.close();
    for (const socket of sockets) socket.destroy();
  };
  onTestFinished(cut);
  const address = server.address() as { port: number };
  const between = { url: `http://127.0.0.1:${address.port}`, strips, cut };
  return between;
}

/** Something between services that a test breaks. */
export interface Wire {
  readonly url: string;
  /** Whether it holds what comes from either end, which is lost then. */
  isHeld: boolean;
  /** Breaks all connections, and each that comes, until it is mended. */
  cut(): void;
  mend(): void;
}

/** Passes bytes on in both directions, until it is told to hold them or is cut. */
export async function wireTo(target: string): Promise<Wire> {
  const sockets = new Set<Socket>();
  let isCut = false;
  const server = createServer((near) => {
    if (isCut) return void near.destroy();
    const far = connect(Number(new URL(target).port), "127.0.0.1");
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(from);
      from.on("error", () => {});
      from.on("data", (bytes) => wire.isHeld || to.write(bytes));
      from.on("close", () => wire.isHeld || to.destroy());
    }
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  const breakAll = (): void => {
    for (const socket of sockets) socket.destroy();
  };
  onTestFinished(() => {
    breakAll();
    server.close();
  });
  const wire: Wire = {
    url: `http://127.0.0.1:${(server.address() as { port: number }).port}`,
    isHeld: false,
    cut() {
      isCut = true;
      breakAll();
    },
    mend: () => void (isCut = false),
  };
  return wire;
}
