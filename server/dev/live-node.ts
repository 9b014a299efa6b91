// One node of a development session. It follows the sources, and can be killed and started again.

import { setTimeout as sleep } from "node:timers/promises";

import type { SegmentEntry, ServerManifest } from "../../src/base/manifest.ts";
import type { Host, Log } from "../../src/base/ports.ts";
import { createNode, type NodeRole } from "../../src/roles/node.ts";
import type { LocalDeployment } from "../local/deployment.ts";
import type { Service } from "../local/service.ts";
import { accessIn } from "../local/gateway-calls.ts";
import type { LiveModules } from "./live-modules.ts";
import type { DevEvent, DevNode } from "./session.ts";
import { callsEndMs } from "./times.ts";

export interface LiveNodeOptions {
  readonly name: string;
  /** Its name on the network. */
  readonly host: string;
  readonly segments: readonly string[];
  readonly local: LocalDeployment;
  readonly manifest: () => ServerManifest;
  readonly modules: () => LiveModules;
  readonly onEvent: (event: DevEvent) => void;
}

export class LiveNode {
  readonly name: string;
  segments: readonly string[];
  /** Ids of changed modules that couldn't be loaded yet. The next change tries them again. */
  readonly stale: Set<string> = new Set();
  readonly #options: LiveNodeOptions;
  readonly #service: Service<NodeRole>;
  #state: DevNode["state"] = "stopped";
  #loaded: Promise<void> = Promise.resolve();
  #modules: LiveModules | undefined;

  constructor(options: LiveNodeOptions) {
    this.name = options.name;
    this.#options = options;
    this.segments = options.segments;
    this.#service = options.local.addNode(options.host, (host, common) =>
      createNode(this.#withPrefix(host), {
        ...common,
        name: this.name,
        // Set by `start`, which runs before this.
        modules: this.#modules as LiveModules,
        segments: this.segments,
        loadsBehind: true,
        stacks: true,
        onFailedCall: ({ fqn, error }) =>
          options.onEvent({ kind: "failed", fqn, node: this.name, error }),
      }),
    );
  }

  get url(): string {
    return this.#service.url;
  }

  get state(): DevNode["state"] {
    return this.#state;
  }

  /** `undefined` while it takes no calls. */
  get role(): NodeRole | undefined {
    return this.#service.readyRole;
  }

  /** New ones after each start; `undefined` while it doesn't run. */
  get modules(): LiveModules | undefined {
    return this.#modules;
  }

  describe(): DevNode {
    const { procedures = 0 } = this.#service.role?.describe() ?? {};
    return { name: this.name, segments: this.segments, procedures, state: this.#state };
  }

  /** The access of a procedure by its key; `undefined` if this node doesn't hold it. */
  accessOf(key: string): SegmentEntry["access"] | undefined {
    if (this.role === undefined) return undefined;
    return accessIn(this.#options.manifest(), this.segments, key);
  }

  /** Resolves when all that it began to load is loaded, or it has failed. */
  get loaded(): Promise<void> {
    return this.#loaded;
  }

  /**
   * Resolves when it takes calls. Never rejects: a node that can't load its procedures reports why,
   * and the next change starts it again.
   */
  async start(): Promise<void> {
    if (this.#state === "ready" || this.#state === "starting") return;
    this.#become("starting");
    // A failed node may still be leaving.
    await this.#loaded;
    const modules = (this.#modules = this.#options.modules());
    const failed = async (reason: unknown): Promise<void> => {
      // Another start or a kill came first.
      if (this.#modules !== modules) return;
      this.#become("failed", reason);
      // It may have joined already: without this, the gateway would take it for lost. The change that
      // mends it waits for this, so its calls have a second to end.
      if (this.role !== undefined)
        await Promise.race([this.leave(), sleep(callsEndMs, undefined, { ref: false })]);
      if (this.#modules === modules) await this.#end();
    };
    try {
      const role = await this.#service.start();
      this.#loaded = role.loaded().then(() => {
        if (this.#modules === modules) this.#become("ready");
      }, failed);
    } catch (error) {
      await failed(error);
    }
  }

  /**
   * Ends it as if its machine had failed: running calls get no answer, and the gateway no notice.
   */
  async kill(): Promise<void> {
    if (this.#modules === undefined) return;
    this.#become("stopped");
    await this.#end();
  }

  /** Takes it out of rotation. */
  async leave(): Promise<void> {
    await this.#service.role?.stop();
  }

  /** Ends it for good. Has an event only if there is a reason. */
  async close(why?: string): Promise<void> {
    const { local, onEvent } = this.#options;
    this.#state = "stopped";
    await this.#end();
    local.remove(this.#service);
    if (why !== undefined) onEvent({ kind: "node", node: this.name, state: "stopped", why });
  }

  async #end(): Promise<void> {
    const modules = this.#modules;
    this.#modules = undefined;
    this.stale.clear();
    this.#service.kill();
    await modules?.close();
  }

  #become(state: DevNode["state"], error?: unknown): void {
    this.#state = state;
    this.#options.onEvent({
      kind: "node",
      node: this.name,
      state,
      ...(error !== undefined && { why: firstLineOf(error), error }),
    });
  }

  #withPrefix(host: Host): Host {
    const { log } = host;
    const prefixed: Log = {
      info: () => {},
      warn: (line, about) => log.warn(`[${this.name}] ${line}`, about),
      error: (line, cause, about) => log.error(`[${this.name}] ${line}`, cause, about),
    };
    return { ...host, log: prefixed };
  }
}

function firstLineOf(error: unknown): string {
  const [line = ""] = (error instanceof Error ? error.message : String(error)).split("\n");
  return line;
}
