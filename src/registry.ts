// FQN + version → procedure. What a node holds, and what outsiders may learn of it.

import type { Args } from "./call.ts";
import { ProcedureNotFound } from "./errors.ts";
import { procedureKey } from "./fqn.ts";
import {
  entryOf,
  type Access,
  type Manifest,
  type ProcedureRecord,
  type SegmentEntry,
  type ServerManifest,
} from "./manifest.ts";
import { bindArguments } from "./parameters.ts";
import type { Procedure } from "./seam.ts";

/** One version of one procedure on this node. */
export interface Registration {
  readonly record: ProcedureRecord;
  /** The segments that brought it here. */
  readonly segments: readonly string[];
  /** The most open one of its segments on this node: private in one and public in another is public (§2.2). */
  readonly access: Access;
  /** A cross-site GET may call it (decisions §5). */
  readonly safe: boolean;
  readonly run: Procedure;
  /** Arguments by name → by position. Throws what decisions §2, parameter checks, says. */
  readonly bind: (args: Args) => unknown[];
}

const openness: Readonly<Record<Access, number>> = { private: 0, protected: 1, public: 2 };

export class Registry {
  readonly #procedures = new Map<string, Registration>();
  readonly #versions = new Map<string, Registration[]>();

  /** Adds what `segment` holds; a procedure that another segment brought already gets the more open access of the two. */
  add(segment: string, record: ProcedureRecord, entry: SegmentEntry, run: Procedure): void {
    const key = procedureKey(record.fqn, record.version);
    const known = this.#procedures.get(key);
    const registration: Registration = {
      record,
      segments: [...new Set(known?.segments).add(segment)],
      access:
        known !== undefined && openness[known.access] > openness[entry.access]
          ? known.access
          : entry.access,
      safe: known?.safe === true || entry.safe === true,
      run,
      bind: known?.record === record ? known.bind : bindArguments(record.parameters),
    };
    this.#procedures.set(key, registration);
    const others = (this.#versions.get(record.fqn) ?? []).filter(
      (one) => one.record.version !== record.version,
    );
    this.#versions.set(record.fqn, [...others, registration]);
  }

  /** Goes by another manifest: what its segments don't name is no longer here, and access is what they say. Gives the keys of what went. */
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
    return this.#procedures.get(procedureKey(fqn, version));
  }

  /** For a call that came in from elsewhere: private and unknown give the same error, byte for byte (decisions §2). */
  findForOutside(fqn: string, version: string, trusted: boolean): Registration {
    const found = this.find(fqn, version);
    if (found !== undefined && found.access !== "private") return found;
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

  /** FQNs that others may call through this node: what a gateway is told (decisions §6, `POST /nodes`). */
  callable(): string[] {
    return [...this.#versions]
      .filter(([, versions]) => versions.some((one) => one.access !== "private"))
      .map(([fqn]) => fqn);
  }

  all(): Registration[] {
    return [...this.#procedures.values()];
  }
}

/** Why no server can answer a call of this procedure, where only segments for browsers have it. */
export function onlyInBrowsers(
  { procedures, segments, clients }: KnownPlaces,
  fqn: string,
): string | undefined {
  const names = Object.keys(segments).filter((name) =>
    (entryOf(segments, name) ?? []).some(({ procedure }) => procedures[procedure]?.fqn === fqn),
  );
  if (names.length === 0 || !names.every((name) => clients?.includes(name) === true))
    return undefined;
  const listed = names.map((name) => `'${name}'`).join(" and ");
  return `it is only in ${names.length > 1 ? "segments" : "segment"} ${listed}, which browsers load`;
}

/** A manifest; of one that a build makes for nodes it is known which segments are for browsers. */
export type KnownPlaces = Pick<Manifest, "procedures" | "segments"> &
  Partial<Pick<ServerManifest, "clients">>;

/** §7.2. `versions` are those that the caller may know of. */
export function procedureNotFound(
  fqn: string,
  version: string,
  versions: readonly string[] = [],
): ProcedureNotFound {
  const others =
    versions.length === 0 ? "" : `; there is ${versions.map((one) => `v${one}`).join(", ")}`;
  return new ProcedureNotFound(`Procedure '${fqn}' v${version} not found${others}`);
}
