// FQN and version → procedure: what a node has, and what callers from outside may know of it.

import { isCallable, mostOpen } from "../base/access.ts";
import type { Args } from "../base/call.ts";
import { SegmentNotFound } from "../base/errors.ts";
import { procedureKey, procedureNotFound } from "../base/fqn.ts";
import {
  entryOf,
  type Access,
  type Manifest,
  type ProcedureRecord,
  type SegmentEntry,
  type ServerManifest,
} from "../base/manifest.ts";
import { nearest } from "../base/problem.ts";
import { bindArguments } from "./parameters.ts";
import type { ProcedureFunction } from "./seam.ts";

/** One version of a procedure on this node. */
export interface Registration {
  readonly record: ProcedureRecord;
  /** The segments of this node that name it. */
  readonly segments: readonly string[];
  /** The most open access among its segments on this node. */
  readonly access: Access;
  /** A cross-site GET may call it. */
  readonly safe: boolean;
  /** Sending a call again does no harm. A safe procedure is idempotent. */
  readonly idempotent: boolean;
  /** How long a call may take: the longest time that its segments on this node give it. */
  readonly timeoutMs: number;
  readonly run: ProcedureFunction;
  /** Arguments by name → by position. Throws for missing, unknown and invalid ones. */
  readonly bind: (args: Args) => unknown[];
}

export class Registry {
  readonly #procedures = new Map<string, Registration>();
  readonly #versions = new Map<string, Registration[]>();

  /** Adds a procedure of `segment`. If another segment has it too, the more open access applies. */
  add(segment: string, record: ProcedureRecord, entry: SegmentEntry, run: ProcedureFunction): void {
    const key = procedureKey(record.fqn, record.version);
    const known = this.#procedures.get(key);
    const registration: Registration = {
      record,
      segments: [...new Set(known?.segments).add(segment)],
      access: known === undefined ? entry.access : mostOpen([known.access, entry.access]),
      safe: known?.safe === true || entry.safe === true,
      idempotent: known?.idempotent === true || entry.idempotent === true || entry.safe === true,
      timeoutMs: Math.max(known?.timeoutMs ?? 0, entry.timeoutMs ?? Infinity),
      run,
      bind: known?.record === record ? known.bind : bindArguments(record.parameters),
    };
    this.#procedures.set(key, registration);
    const others = (this.#versions.get(record.fqn) ?? []).filter(
      (one) => one.record.version !== record.version,
    );
    this.#versions.set(record.fqn, [...others, registration]);
  }

  /**
   * Switches to another manifest: drops procedures that its segments don't name, and updates access
   * levels. Returns the dropped keys.
   */
  follow(manifest: Manifest, segments: readonly string[]): readonly string[] {
    const before = new Map(this.#procedures);
    this.#procedures.clear();
    this.#versions.clear();
    for (const segment of segments)
      for (const entry of entryOf(manifest.segments, segment) ?? []) {
        const record = manifest.procedures[entry.procedure];
        const known = record && before.get(procedureKey(record.fqn, record.version));
        if (record !== undefined && known !== undefined)
          this.add(segment, record, entry, known.run);
      }
    return [...before.keys()].filter((key) => !this.#procedures.has(key));
  }

  find(fqn: string, version: string): Registration | undefined {
    // Most procedures have one version; a key for both would be a new text for each call.
    for (const known of this.#versions.get(fqn) ?? [])
      if (known.record.version === version) return known;
    return undefined;
  }

  /** For an incoming call. Private and unknown procedures give the same error, byte for byte. */
  findForOutside(fqn: string, version: string, trusted: boolean): Registration {
    const found = this.find(fqn, version);
    if (found !== undefined && isCallable(found.access)) return found;
    const visible = (this.#versions.get(fqn) ?? []).filter(
      (one) => one.access === "public" || (trusted && one.access === "protected"),
    );
    throw procedureNotFound(
      fqn,
      version,
      visible
        .map((one) => one.record.version)
        .toSorted((a, b) => a.localeCompare(b, "en", { numeric: true })),
    );
  }

  /** FQNs that others may call on this node. The gateway gets this list. */
  callable(): string[] {
    return [...this.#versions]
      .filter(([, versions]) => versions.some(({ access }) => isCallable(access)))
      .map(([fqn]) => fqn);
  }

  /** Those of {@link callable} of which any version may be sent again. */
  idempotent(): string[] {
    return [...this.#versions]
      .filter(([, versions]) => versions.some(({ access }) => isCallable(access)))
      .filter(([, versions]) => versions.every(({ idempotent }) => idempotent))
      .map(([fqn]) => fqn);
  }

  all(): Registration[] {
    return [...this.#procedures.values()];
  }
}

/** The manifest, if it has these segments. */
export function withSegments(manifest: Manifest, segments: readonly string[]): Manifest {
  const names = Object.keys(manifest.segments);
  const missing = segments.find((segment) => !names.includes(segment));
  if (missing === undefined) return manifest;
  const suggestion = nearest(missing, names);
  throw new SegmentNotFound(
    `Segment '${missing}' not found; ${suggestion === undefined ? `there is ${names.join(", ") || "none"}` : `did you mean '${suggestion}'?`}`,
  );
}

/** Why no server can run a procedure, if only segments for browsers have it. */
export function onlyInBrowsers(
  { procedures, segments, browserSegments }: KnownPlaces,
  fqn: string,
): string | undefined {
  const names = Object.keys(segments).filter((name) =>
    (entryOf(segments, name) ?? []).some(({ procedure }) => procedures[procedure]?.fqn === fqn),
  );
  if (names.length === 0 || !names.every((name) => browserSegments?.includes(name) === true))
    return undefined;
  const listed = names.map((name) => `'${name}'`).join(" and ");
  return `it is only in ${names.length > 1 ? "segments" : "segment"} ${listed}, which browsers load`;
}

/** Any manifest. Only a server's says which segments are for browsers. */
export type KnownPlaces = Pick<Manifest, "procedures" | "segments"> &
  Partial<Pick<ServerManifest, "browserSegments">>;
