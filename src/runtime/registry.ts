// The procedures of a node by FQN and version, and which of them callers from outside may know.

import { isCallable, isChecked, mostOpen } from "../base/access.ts";
import type { Args } from "../base/call.ts";
import { SegmentNotFound } from "../base/errors.ts";
import { procedureKey, procedureNotFound, traceLine } from "../base/fqn.ts";
import {
  entryOf,
  type Access,
  type ExtraMembers,
  type Manifest,
  type ProcedureRecord,
  type SegmentEntry,
  type ServerManifest,
  typesIdOf,
} from "../base/manifest.ts";
import { nearest } from "../base/problem.ts";
import { bindArguments } from "./parameters.ts";
import type { ProcedureFunction } from "./procedure-function.ts";

/** One version of a procedure on this node. */
export class Registration {
  readonly record: ProcedureRecord;
  /** The segments of this node that name it. */
  readonly segments: readonly string[];
  /** The most open access among its segments on this node. */
  readonly access: Access;
  /** A cross-site GET may call it. */
  readonly safe: boolean;
  /** Sending a call again does no harm. A safe procedure is idempotent, and so is one with `resume`. */
  readonly idempotent: boolean;
  /** A stream whose callers ask for the rest after a cut. */
  readonly resume: boolean;
  /**
   * How long a call may take: the longest time that its segments on this node give it. If one of
   * them gives none, it has none.
   */
  readonly timeoutMs: number | undefined;
  /** Name of the guard that callers from outside must pass first. */
  readonly guard: string | undefined;
  /** Arguments of callers from outside are checked by types. */
  readonly checked: boolean;
  /** The treatment of undeclared members. */
  readonly extra: ExtraMembers;
  readonly run: ProcedureFunction;
  /** Loads its body, which has to be there before `run` is called. `undefined` if it is. */
  readonly load: (() => Promise<void>) | undefined;
  /** Another version of it. @internal */
  next: Registration | undefined;
  /** These three are made by the first call: most of many procedures are rarely called. */
  #bind: ((args: Args) => unknown[]) | undefined;
  #trace: readonly string[] | undefined;
  #typesId: string | undefined;

  constructor(fields: Omit<Registration, "bind" | "trace" | "typesId" | "next">) {
    this.record = fields.record;
    this.segments = fields.segments;
    this.access = fields.access;
    this.safe = fields.safe;
    this.idempotent = fields.idempotent;
    this.resume = fields.resume;
    this.timeoutMs = fields.timeoutMs;
    this.guard = fields.guard;
    this.checked = fields.checked;
    this.extra = fields.extra;
    this.run = fields.run;
    this.load = fields.load;
  }

  /** The trace of a call's context. */
  get trace(): readonly string[] {
    return (this.#trace ??= [traceLine(this.record.fqn, this.record.version)]);
  }

  /** Its name among the types of parameters. */
  get typesId(): string {
    return (this.#typesId ??= typesIdOf(this.record));
  }

  /** Arguments by name → by position. Throws for missing, unknown and invalid ones. */
  bind(args: Args): unknown[] {
    return (this.#bind ??= bindArguments(this.record.parameters))(args);
  }
}

export class Registry {
  /** By FQN, the version that was added first; it leads to the others. */
  readonly #procedures = new Map<string, Registration>();
  /** A list for all procedures that only this segment names. */
  readonly #alone = new Map<string, readonly string[]>();
  #size = 0;

  /** How many procedures there are, each version counted. */
  get size(): number {
    return this.#size;
  }

  /** Adds a procedure of `segment`. If another segment has it too, the more open access applies. */
  add(
    segment: string,
    record: ProcedureRecord,
    entry: SegmentEntry,
    run: ProcedureFunction,
    load?: () => Promise<void>,
  ): Registration {
    const first = this.#procedures.get(record.fqn);
    const known = versionFrom(first, record.version);
    const added = new Registration({
      record,
      segments:
        known === undefined || (known.segments.length === 1 && known.segments[0] === segment)
          ? this.#only(segment)
          : [...new Set(known.segments).add(segment)],
      access: known === undefined ? entry.access : mostOpen([known.access, entry.access]),
      safe: known?.safe === true || entry.safe === true,
      idempotent: known?.idempotent === true || isIdempotent(entry),
      resume: known?.resume === true || entry.resume === true,
      timeoutMs: known === undefined ? entry.timeoutMs : longest(known.timeoutMs, entry.timeoutMs),
      // Entries that callers outside reach agree in these three. Others have none.
      guard: entry.guard ?? known?.guard,
      checked: known?.checked === true || isChecked(entry),
      extra: entry.extra ?? known?.extra ?? "drop",
      run,
      load,
    });
    if (known === undefined) this.#size++;
    if (first === undefined || first === known) {
      added.next = first?.next;
      this.#procedures.set(record.fqn, added);
      return added;
    }
    let before = first;
    while (before.next !== undefined && before.next !== known) before = before.next;
    added.next = known?.next;
    before.next = added;
    return added;
  }

  #only(segment: string): readonly string[] {
    let list = this.#alone.get(segment);
    if (list === undefined) this.#alone.set(segment, (list = [segment]));
    return list;
  }

  /**
   * Switches to another manifest: drops procedures that its segments don't name, and updates access
   * levels. Returns the dropped keys.
   */
  follow(manifest: Manifest, segments: readonly string[]): readonly string[] {
    const before = new Map(this.all().map((known) => [keyOf(known), known]));
    this.#procedures.clear();
    this.#size = 0;
    for (const segment of segments)
      for (const entry of entryOf(manifest.segments, segment) ?? []) {
        const record = manifest.procedures[entry.procedure];
        const known = record && before.get(procedureKey(record.fqn, record.version));
        if (record !== undefined && known !== undefined)
          this.add(segment, record, entry, known.run, known.load);
      }
    return [...before]
      .filter(([, { record }]) => this.find(record.fqn, record.version) === undefined)
      .map(([key]) => key);
  }

  has(fqn: string): boolean {
    return this.#procedures.has(fqn);
  }

  find(fqn: string, version: string): Registration | undefined {
    // A key of both would be a new text for each call.
    return versionFrom(this.#procedures.get(fqn), version);
  }

  /** For an incoming call. Private and unknown procedures give the same error, byte for byte. */
  findForOutside(fqn: string, version: string, trusted: boolean): Registration {
    const found = this.find(fqn, version);
    if (found !== undefined && isCallable(found.access)) return found;
    const visible = versionsFrom(this.#procedures.get(fqn)).filter(
      ({ access }) => access === "public" || (trusted && access === "protected"),
    );
    throw procedureNotFound(
      fqn,
      version,
      visible
        .map(({ record }) => record.version)
        .toSorted((a, b) => a.localeCompare(b, "en", { numeric: true })),
    );
  }

  /** FQNs that others may call on this node. The gateway gets this list. */
  callable(): string[] {
    const names: string[] = [];
    for (const [fqn, first] of this.#procedures)
      if (versionsFrom(first).some(({ access }) => isCallable(access))) names.push(fqn);
    return names;
  }

  /** Those of {@link callable} of which any version may be sent again. */
  idempotent(): string[] {
    const names: string[] = [];
    for (const [fqn, first] of this.#procedures)
      if (
        versionsFrom(first).some(({ access }) => isCallable(access)) &&
        versionsFrom(first).every(({ idempotent }) => idempotent)
      )
        names.push(fqn);
    return names;
  }

  all(): Registration[] {
    return [...this.#procedures.values()].flatMap(versionsFrom);
  }
}

const isIdempotent = ({ idempotent, resume, safe }: SegmentEntry): boolean =>
  idempotent === true || resume === true || safe === true;

const keyOf = ({ record }: Registration): string => procedureKey(record.fqn, record.version);

function versionFrom(first: Registration | undefined, version: string): Registration | undefined {
  let known = first;
  while (known !== undefined && known.record.version !== version) known = known.next;
  return known;
}

function versionsFrom(first: Registration | undefined): Registration[] {
  const all: Registration[] = [];
  for (let known = first; known !== undefined; known = known.next) all.push(known);
  return all;
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

/** The longer of two times; `undefined` is longer than any. */
function longest(left: number | undefined, right: number | undefined): number | undefined {
  return left === undefined || right === undefined ? undefined : Math.max(left, right);
}
