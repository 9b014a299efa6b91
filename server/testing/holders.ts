// Which node of a test cluster holds a procedure, for calls by the gateway's own modules.

import { callableIn } from "../../src/base/access.ts";
import { procedureKey } from "../../src/base/fqn.ts";
import {
  type Access,
  entryOf,
  type ProcedureRecord,
  type ServerManifest,
} from "../../src/base/manifest.ts";
import type { Host, Peer } from "../../src/base/ports.ts";
import type { Limits } from "../../src/base/limits.ts";
import type { ServerModules } from "../../src/roles/application/application.ts";
import type { NodeRole } from "../../src/roles/node.ts";
import { accessIn, bindGatewayCalls, type ProcedureHolder } from "../local/gateway-calls.ts";
import type { Service } from "../local/service.ts";

interface Held {
  readonly segments: readonly string[];
  /** Only these procedures of the segments. */
  readonly keys: ReadonlySet<string> | undefined;
}

/** A segment that has a procedure, with the access that it gives. */
export interface HoldingSegment {
  readonly segment: string;
  readonly access: Access;
}

export class ProcedureHolders {
  readonly #manifest: ServerManifest;
  readonly #nodes = new Map<Service<NodeRole>, Held>();
  /** All procedures and routes that nodes have ever offered to callers from outside. */
  readonly #names = { procedure: new Set<string>(), route: new Set<string>() };
  #bound: Promise<void> | undefined;

  constructor(manifest: ServerManifest) {
    this.#manifest = manifest;
  }

  add(node: Service<NodeRole>, segments: readonly string[], keys?: ReadonlySet<string>): void {
    this.#nodes.set(node, { segments, keys });
    for (const name of callableIn(this.#manifest, segments)) this.#names.procedure.add(name);
    for (const segment of segments)
      for (const { name } of entryOf(this.#manifest.routes ?? {}, segment) ?? [])
        this.#names.route.add(name);
  }

  remove(node: Service<NodeRole>): void {
    this.#nodes.delete(node);
  }

  /** Whether a node has or had a procedure, or a route, with this name, for callers from outside. */
  has(name: string, kind: "procedure" | "route"): boolean {
    return this.#names[kind].has(name);
  }

  /** Lets the gateway's modules call procedures of the nodes, also after it was restarted. */
  async bind(host: Host, modules: ServerModules, peer: Peer, limits: Limits): Promise<void> {
    const holder = this.#find.bind(this);
    await (this.#bound ??= bindGatewayCalls(host, { modules, peer, limits, holder }));
  }

  /** A running node that holds a procedure. */
  #find(fqn: string, version: string): ProcedureHolder | undefined {
    const key = procedureKey(fqn, version);
    for (const [{ name, url, readyRole: role }, { segments, keys }] of this.#nodes) {
      const access = accessIn(this.#manifest, segments, key);
      if (role !== undefined && access !== undefined && keys?.has(key) !== false)
        return { name, url, role, accessOf: () => access };
    }
    return undefined;
  }

  /** The segments that have a procedure. */
  segmentsOf(record: ProcedureRecord): readonly HoldingSegment[] {
    const { procedures, segments } = this.#manifest;
    const index = procedures.indexOf(record);
    return Object.entries(segments).flatMap(([segment, entries]) =>
      entries
        .filter((entry) => entry.procedure === index)
        .map(({ access }) => ({ segment, access })),
    );
  }
}
