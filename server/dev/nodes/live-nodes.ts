// The nodes of a development session, and how they follow a change without losing a call.

import { procedureKey } from "../../../src/base/fqn.ts";
import type { ServerManifest } from "../../../src/base/manifest.ts";
import type { Followed } from "../../../src/roles/node.ts";
import type { LocalDeployment } from "../../local/deployment.ts";
import { type NodeSegments, segmentsByNode } from "./node-segments.ts";
import type { LiveModules } from "./live-modules.ts";
import { LiveNode } from "./live-node.ts";
import type { DevEvent, DevNode } from "../session/session.ts";

export interface LiveNodesOptions {
  readonly local: LocalDeployment;
  readonly manifest: () => ServerManifest;
  /** Module instances for one more node. */
  readonly modules: () => LiveModules;
  /** The segments of each node [a node for each segment that servers run]. */
  readonly nodeSegments: NodeSegments | undefined;
  readonly onEvent: (event: DevEvent) => void;
}

/** What a change did to one node. */
export interface NodeChange {
  readonly node: string;
  /** Ids of the modules that it reloads. */
  readonly invalidated: ReadonlySet<string>;
}

export class LiveNodes {
  readonly #options: LiveNodesOptions;
  readonly #nodes = new Map<string, LiveNode>();
  #created = 0;

  constructor(options: LiveNodesOptions) {
    this.#options = options;
  }

  /** Starts the nodes that are missing. A node that fails reports why and waits for a change. */
  async start(): Promise<void> {
    const { nodeSegments: _, ...parts } = this.#options;
    const starting: Promise<void>[] = [];
    for (const [name, segments] of this.#nodeSegments()) {
      if (this.#nodes.has(name)) continue;
      const node = new LiveNode({ ...parts, name, segments, host: `node-${++this.#created}` });
      this.#nodes.set(name, node);
      starting.push(node.start());
    }
    await Promise.all(starting);
  }

  describe(): readonly DevNode[] {
    return [...this.#nodes.values()].map((node) => node.describe());
  }

  /** A node that holds a procedure now. */
  holder(fqn: string, version: string): LiveNode | undefined {
    const key = procedureKey(fqn, version);
    return [...this.#nodes.values()].find((node) => node.accessOf(key) !== undefined);
  }

  anyReady(): LiveNode | undefined {
    return [...this.#nodes.values()].find((node) => node.role !== undefined);
  }

  get(name: string): LiveNode {
    const node = this.#nodes.get(name);
    if (node === undefined)
      throw new Error(
        `There is no node '${name}'; there is ${[...this.#nodes.keys()].join(", ") || "none"}`,
      );
    return node;
  }

  /**
   * Applies the current manifest and the `changed` modules. Nodes load added procedures and notify
   * the gateway, then `settled` runs, and then nodes drop removed ones, so every call finds its
   * procedure. Without `settled`, nothing may have been removed. Rejects if a body can't be loaded:
   * its node keeps the old one, and tries again with the next change.
   */
  async follow(
    changed: ReadonlySet<string>,
    settled?: () => Promise<void>,
  ): Promise<readonly NodeChange[]> {
    const changes: NodeChange[] = [];
    const followed: Followed[] = [];
    const failures: unknown[] = [];
    const nodeSegments = this.#nodeSegments();
    const before = [...this.#nodes.values()];
    const staying = before.filter(({ name }) => nodeSegments.has(name));
    const leaving = before.filter(({ name }) => !nodeSegments.has(name));
    await Promise.all([
      this.start(),
      ...staying.map(async (node) => {
        try {
          const change = await node.follow(nodeSegments.get(node.name) ?? [], changed);
          if (change.invalidated.size > 0)
            changes.push({ node: node.name, invalidated: change.invalidated });
          if (change.followed !== undefined) followed.push(change.followed);
        } catch (error) {
          failures.push(error);
        }
      }),
    ]);
    if (settled !== undefined || leaving.length > 0) {
      await settled?.();
      await Promise.all([
        ...followed.map((change) => change.leave()),
        ...leaving.map((node) => node.leave()),
      ]);
      // Calls that the gateway has already sent reach their procedure within this turn.
      await new Promise((resolve) => setImmediate(resolve));
    }
    for (const change of followed) change.drop();
    for (const node of leaving) await this.#remove(node);
    if (failures.length > 0) throw failures[0];
    const order = [...this.#nodes.keys()];
    return changes.toSorted((a, b) => order.indexOf(a.node) - order.indexOf(b.node));
  }

  async close(): Promise<void> {
    await Promise.all([...this.#nodes.values()].map((node) => node.close()));
  }

  async #remove(node: LiveNode): Promise<void> {
    this.#nodes.delete(node.name);
    await node.close();
    this.#options.onEvent({
      kind: "node",
      node: node.name,
      state: "stopped",
      why: "no segment is left for it",
    });
  }

  #nodeSegments(): ReadonlyMap<string, readonly string[]> {
    const { browserSegments, segments } = this.#options.manifest();
    return new Map(
      Object.entries(
        segmentsByNode(this.#options.nodeSegments, Object.keys(segments), browserSegments),
      ),
    );
  }
}
