// One node of a development session. It follows the sources, and can be killed and started again.

import type { SegmentEntry, ServerManifest } from "../../../src/base/manifest.ts";
import type { Host, Log } from "../../../src/base/ports.ts";
import { createNode, type Followed, type NodeRole } from "../../../src/roles/node.ts";
import type { LocalDeployment } from "../../local/deployment.ts";
import type { Service } from "../../local/service.ts";
import { accessIn } from "../../local/gateway-calls.ts";
import type { LiveModules } from "./live-modules.ts";
import type { DevEvent, DevNode } from "../session/session.ts";

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

/** What a change did on one node. */
export interface FollowedChange {
  /** Ids of the modules that it reloads. */
  readonly invalidated: ReadonlySet<string>;
  readonly followed: Followed | undefined;
}

const nothingFollowed: FollowedChange = { invalidated: new Set(), followed: undefined };

export class LiveNode {
  readonly name: string;
  readonly #options: LiveNodeOptions;
  readonly #service: Service<NodeRole>;
  #segments: readonly string[];
  #state: DevNode["state"] = "stopped";
  #modules: LiveModules | undefined;
  /** Ids of changed modules that couldn't be loaded yet. The next change tries them again. */
  #pending = new Set<string>();

  constructor(options: LiveNodeOptions) {
    this.name = options.name;
    this.#options = options;
    this.#segments = options.segments;
    this.#service = options.local.addNode(options.host, (host, common) =>
      createNode(this.#withPrefix(host), {
        ...common,
        name: this.name,
        // Set by `start`, which runs before this.
        modules: this.#modules as LiveModules,
        segments: this.#segments,
        stacks: true,
        onFailedCall: ({ fqn, error }) =>
          options.onEvent({ kind: "failed", fqn, node: this.name, error }),
      }),
    );
  }

  get url(): string {
    return this.#service.url;
  }

  get role(): NodeRole | undefined {
    return this.#service.readyRole;
  }

  describe(): DevNode {
    const { procedures = 0 } = this.#service.role?.describe() ?? {};
    return { name: this.name, segments: this.#segments, procedures, state: this.#state };
  }

  /** The access of a procedure by its key; `undefined` if this node doesn't hold it. */
  accessOf(key: string): SegmentEntry["access"] | undefined {
    if (this.#state !== "ready") return undefined;
    return accessIn(this.#options.manifest(), this.#segments, key);
  }

  /** Never rejects: a node that can't start reports why, and the next change starts it again. */
  async start(): Promise<void> {
    if (this.#state === "ready" || this.#state === "starting") return;
    this.#become("starting");
    const modules = (this.#modules = this.#options.modules());
    try {
      await this.#service.start();
      if (this.#modules === modules) this.#become("ready");
    } catch (error) {
      // Another start or a kill came first.
      if (this.#modules !== modules) return;
      this.#become("failed", error);
      await this.#end();
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

  async follow(segments: readonly string[], changed: ReadonlySet<string>): Promise<FollowedChange> {
    this.#segments = segments;
    if (this.#state === "failed") await this.start();
    const modules = this.#modules;
    const { role } = this;
    if (role === undefined || modules === undefined) return nothingFollowed;
    for (const id of changed) this.#pending.add(id);
    const invalidated = modules.invalidate(this.#pending);
    for (const id of invalidated) this.#pending.add(id);
    try {
      const followed = await role.follow(segments, this.#pending);
      this.#pending = new Set();
      return { invalidated, followed };
    } catch (error) {
      // A kill came first: its next start loads everything.
      if (this.#modules !== modules) return nothingFollowed;
      throw error;
    }
  }

  /** Ends it for good, without an event. */
  async close(): Promise<void> {
    this.#state = "stopped";
    await this.#end();
    this.#options.local.remove(this.#service);
  }

  async #end(): Promise<void> {
    const modules = this.#modules;
    this.#modules = undefined;
    this.#pending = new Set();
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
