// One node of a development session: it can be ended as if its machine were gone, and started again.

import { procedureKey } from "../../src/fqn.ts";
import { entryOf, type SegmentEntry, type ServerManifest } from "../../src/manifest.ts";
import { type Host, type Log, type Transport, TransportError } from "../../src/ports.ts";
import type { MemoryNetwork } from "../../src/roles/memory-network.ts";
import { createNode, type Followed, type NodeRole } from "../../src/roles/node.ts";
import type { Limits } from "../../src/serializer/limits.ts";
import type { NodeModules } from "./runner.ts";
import type { DevEvent, DevNode } from "./session.ts";

export interface ClusterNodeOptions {
  readonly name: string;
  readonly segments: readonly string[];
  readonly url: string;
  readonly gateway: string;
  readonly network: MemoryNetwork;
  readonly log: Log;
  readonly limits: Limits;
  readonly trustKey: string;
  readonly host: (parts: Pick<Host, "transport" | "names" | "log">) => Host;
  readonly manifest: () => ServerManifest;
  readonly modules: () => NodeModules;
  readonly tell: (event: DevEvent) => void;
}

interface Running {
  readonly role: NodeRole;
  readonly modules: NodeModules;
  /** Ends what it has under way, as a machine does that is gone. */
  readonly die: () => void;
}

export class ClusterNode {
  readonly name: string;
  readonly #options: ClusterNodeOptions;
  #segments: readonly string[];
  #state: DevNode["state"] = "stopped";
  #running: Running | undefined;
  /** Modules that were others than before when something could not be loaded: they are still to come. */
  #owed = new Set<string>();

  constructor(options: ClusterNodeOptions) {
    this.name = options.name;
    this.#options = options;
    this.#segments = options.segments;
  }

  describe(): DevNode {
    const { procedures = 0 } = (this.#running?.role.describe() ?? {}) as { procedures?: number };
    return { name: this.name, segments: this.#segments, procedures, state: this.#state };
  }

  /** By its key. */
  holds(key: string): boolean {
    return this.accessOf(key) !== undefined;
  }

  /** Who may call a procedure that this node holds, by its key; `undefined` of others. */
  accessOf(key: string): SegmentEntry["access"] | undefined {
    if (this.#state !== "ready") return undefined;
    const { segments, procedures } = this.#options.manifest();
    const entries = this.#segments.flatMap((segment) => entryOf(segments, segment) ?? []);
    const held = entries.filter(({ procedure }) => {
      const { fqn = "", version = "" } = procedures[procedure] ?? {};
      return procedureKey(fqn, version) === key;
    });
    return (held.find(({ access }) => access !== "private") ?? held[0])?.access;
  }

  get url(): string {
    return this.#options.url;
  }

  get role(): NodeRole | undefined {
    return this.#state === "ready" ? this.#running?.role : undefined;
  }

  /** Never rejects: a node that can't start says why, and is started anew with the next change. */
  async start(): Promise<void> {
    if (this.#state === "ready" || this.#state === "starting") return;
    const { name, url, gateway, network, limits, trustKey, host } = this.#options;
    this.#become("starting");
    const modules = this.#options.modules();
    const alive = new AbortController();
    const role = createNode(
      host({ transport: mortal(network, alive.signal), names: network.names, log: this.#log() }),
      {
        trustKey,
        limits,
        gateway,
        modules,
        segments: this.#segments,
        name,
        stacks: true,
      },
    );
    const running = {
      role,
      modules,
      die: () => alive.abort(new TransportError(`${name} is gone`, true)),
    };
    this.#running = running;
    network.roles.set(url, {
      ...role,
      handle: (request) => whileAlive(role.handle(request), alive.signal),
    });
    try {
      await role.start(url);
      if (this.#running === running) this.#become("ready");
    } catch (error) {
      if (this.#running === running) await this.#end("failed", error);
    }
  }

  /** As if its machine were gone: callers of what it has under way get no answer, and its gateway is told nothing. */
  async kill(): Promise<void> {
    if (this.#running !== undefined) await this.#end("stopped");
  }

  /** Tells the gateway of itself once more. */
  async join(): Promise<void> {
    if (this.#state === "ready") await this.#running?.role.rejoin();
  }

  /** Tells the gateway that it takes no calls any more. */
  async leave(): Promise<void> {
    await this.#running?.role.stop();
  }

  async follow(
    segments: readonly string[],
    changed: ReadonlySet<string>,
  ): Promise<{ readonly outdated: ReadonlySet<string>; readonly done: Followed | undefined }> {
    this.#segments = segments;
    if (this.#state === "failed") await this.start();
    const running = this.#running;
    if (this.#state !== "ready" || running === undefined)
      return { outdated: new Set(), done: undefined };
    for (const id of changed) this.#owed.add(id);
    const outdated = running.modules.outdate(this.#owed);
    for (const id of outdated) this.#owed.add(id);
    const done = await running.role.follow(segments, this.#owed);
    this.#owed = new Set();
    return { outdated, done };
  }

  async close(): Promise<void> {
    await this.#end("stopped", undefined, true);
  }

  async #end(state: DevNode["state"], why?: unknown, silent = false): Promise<void> {
    const running = this.#running;
    this.#running = undefined;
    this.#owed = new Set();
    this.#options.network.roles.delete(this.#options.url);
    if (silent) this.#state = state;
    else this.#become(state, why);
    running?.die();
    // Its timers end; that nobody hears of it any more is what was wanted.
    await running?.role.stop().catch(() => {});
    await running?.modules.close();
  }

  #become(state: DevNode["state"], why?: unknown): void {
    this.#state = state;
    this.#options.tell({
      kind: "node",
      node: this.name,
      state,
      ...(why !== undefined && { why: messageOf(why), error: why }),
    });
  }

  /** What a role logs of a call that failed is an event with the error itself. */
  #log(): Log {
    const { log, tell } = this.#options;
    return {
      info: () => {},
      // A node that was killed can't reach its gateway; that isn't news.
      warn: (line) => void (this.#running !== undefined && log.warn(`[${this.name}] ${line}`)),
      error: (line, cause) => {
        const fqn = /\/rpc\/(\S+) failed$/.exec(line)?.[1];
        if (fqn === undefined || cause === undefined) log.error(`[${this.name}] ${line}`, cause);
        else tell({ kind: "failed", fqn: decodeURIComponent(fqn), node: this.name, error: cause });
      },
    };
  }
}

/** The network as a machine has it that can go. */
function mortal(network: MemoryNetwork, alive: AbortSignal): Transport {
  return {
    send: async (request) => {
      if (alive.aborted) throw new TransportError("This node is gone", false);
      return await network.send(request);
    },
    close: async () => {},
  };
}

function whileAlive<T>(answered: Promise<T>, alive: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const die = (): void => reject(alive.reason as Error);
    alive.addEventListener("abort", die, { once: true });
    void answered.then(resolve, reject).finally(() => alive.removeEventListener("abort", die));
  });
}

/** In one line. */
function messageOf(thrown: unknown): string {
  const [first = ""] = (thrown instanceof Error ? thrown.message : String(thrown)).split("\n");
  return first;
}
