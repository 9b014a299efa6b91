// Compares two readings of the application: which module parts have changed, and which procedures
// have moved.

import { procedureKey } from "../../src/base/fqn.ts";
import type { SplitModule } from "../../src/split/write/split-module.ts";
import type { Application } from "../compile/cut/application.ts";
import type { ApplicationProcedure } from "../compile/cut/application-procedure.ts";
import type { CutModule, Side } from "../compile/cut/cut.ts";
import { partId } from "../compile/read/module-ids.ts";
import { proxiedNames } from "../compile/plugin/ids.ts";
import type { Move } from "./session.ts";

export interface Difference {
  /** Ids of parts that have changed, for nodes and for pages. */
  readonly server: ReadonlySet<string>;
  readonly browser: ReadonlySet<string>;
  /** By file: procedures whose body alone has changed, and where each was and still is. */
  readonly bodies: ReadonlyMap<string, readonly PlacedBody[]>;
  /** A procedure has moved, or its access has changed. */
  readonly isMoved: boolean;
  readonly moves: readonly Move[];
}

export interface PlacedBody {
  readonly fqn: string;
  readonly locations: readonly string[];
}

/** Where a procedure of these segments is: names of nodes, and `page`. */
export type LocationsOf = (
  segments: readonly string[],
  application: Application,
) => readonly string[];

export function difference(
  before: Application,
  after: Application,
  locationsOf: LocationsOf,
): Difference {
  const server = new Set<string>();
  const browser = new Set<string>();
  const bodies = new Map<string, readonly PlacedBody[]>();
  const locationsIn = (
    application: Application,
    cut: CutModule | undefined,
    { fqn, version }: ApplicationProcedure,
  ): readonly string[] => {
    const found = cut?.procedures.find((one) => one.fqn === fqn && one.version === version);
    return found === undefined ? [] : locationsOf(segmentsOf(found), application);
  };
  for (const file of new Set([...before.cut.keys(), ...after.cut.keys()])) {
    const [previous, current] = [before.cut.get(file), after.cut.get(file)];
    const added: string[] = [];
    for (const [side, ids] of [
      ["server", server],
      ["browser", browser],
    ] as const)
      for (const part of changedParts(previous?.parts[side], current?.parts[side])) {
        added.push(part);
        ids.add(idOf(file, part, side));
        // The proxy module of a body exports procedures by their names.
        if (
          part === "face" &&
          side === "browser" &&
          namesIn(previous, before) !== namesIn(current, after)
        )
          ids.add(partId.body(file));
        // When a module becomes split, or stops being split, every importer is affected.
        if (part === "face" && (previous === undefined || current === undefined))
          ids.add(partId.shared(file));
      }
    if (
      added.length > 0 &&
      added.every((part) => part === "body") &&
      previous?.parts.server.body?.unpadded !== current?.parts.server.body?.unpadded
    )
      bodies.set(
        file,
        (current?.procedures ?? []).map((procedure) => ({
          fqn: procedure.fqn,
          locations: locationsIn(after, current, procedure).filter((location) =>
            locationsIn(before, previous, procedure).includes(location),
          ),
        })),
      );
  }
  for (const file of new Set([...before.trimmed.keys(), ...after.trimmed.keys()]))
    if (before.trimmed.get(file)?.unpadded !== after.trimmed.get(file)?.unpadded) browser.add(file);
  return { server, browser, bodies, ...moved(before, after, locationsOf) };
}

type PartName = "face" | "shared" | "body";

function namesIn(cut: CutModule | undefined, { browserSegments }: Application): string {
  return cut === undefined ? "" : proxiedNames(cut, browserSegments).join();
}

/**
 * Ignores padding: when a body grows, the padding of its neighbours changes and nothing else does.
 */
function changedParts(
  previous: SplitModule | undefined,
  current: SplitModule | undefined,
): readonly PartName[] {
  if (previous === current) return [];
  return (["face", "shared", "body"] as const).filter(
    (part) => previous?.[part]?.unpadded !== current?.[part]?.unpadded,
  );
}

function idOf(file: string, part: PartName, side: Side): string {
  if (part === "face") return file;
  if (part === "shared") return partId.shared(file);
  return side === "server" ? partId.body(file) : partId.code(file);
}

/** The procedures that are at other places than before, and whether their access has changed. */
export function moved(
  before: Application,
  after: Application,
  locationsOf: LocationsOf,
): Pick<Difference, "isMoved" | "moves"> {
  const [old, current] = [rowsOf(before, locationsOf), rowsOf(after, locationsOf)];
  const keys = [...new Set([...old.keys(), ...current.keys()])];
  const moves = keys.flatMap((key) => {
    const [from, to] = [old.get(key)?.locations ?? [], current.get(key)?.locations ?? []];
    return from.join() === to.join()
      ? []
      : [{ fqn: (current.get(key) ?? old.get(key))?.fqn ?? key, from, to }];
  });
  return { isMoved: keys.some((key) => old.get(key)?.state !== current.get(key)?.state), moves };
}

const segmentsOf = ({ entries }: ApplicationProcedure): readonly string[] =>
  entries.map(({ segment }) => segment.name);

interface Row {
  readonly fqn: string;
  readonly locations: readonly string[];
  /** Everything that nodes and pages know about a procedure, as text. */
  readonly state: string;
}

function rowsOf(application: Application, locationsOf: LocationsOf): ReadonlyMap<string, Row> {
  /** Most procedures are in the same segments. */
  const places = new Map<string, readonly string[]>();
  return new Map(
    [...application.procedures, ...application.routes].map((procedure) => {
      const segments = segmentsOf(procedure);
      const key = segments.join("\0");
      let locations = places.get(key);
      if (locations === undefined)
        places.set(key, (locations = locationsOf(segments, application)));
      const { fqn, version } = procedure;
      return [procedureKey(fqn, version), { fqn, locations, state: stateOf(procedure) }];
    }),
  );
}

/** An unchanged procedure is the same object in each reading. */
const states = new WeakMap<ApplicationProcedure, string>();

function stateOf(procedure: ApplicationProcedure): string {
  let state = states.get(procedure);
  if (state === undefined) {
    const { module, export: name, parameters, stream, entries, route } = procedure;
    const access = entries
      .map(({ segment, entry }) =>
        [
          segment.name,
          entry.access,
          entry.safe,
          entry.idempotent,
          entry.resume,
          entry.crossSite,
          entry.bodyBytes,
          entry.guard,
        ].join(" "),
      )
      .sort();
    state = JSON.stringify([access, module.id, name, parameters, stream, route]);
    states.set(procedure, state);
  }
  return state;
}
