// What a change of the sources changed: which modules are others than before, and which procedures are elsewhere.

import { procedureKey } from "../../src/fqn.ts";
import type { SplitModule } from "../../src/split/split-module.ts";
import type { Application } from "../build/application.ts";
import { type CutModule, partId, type Side } from "../build/cut.ts";
import { codeId, heldNames } from "./ids.ts";
import type { Move } from "./session.ts";

export interface Difference {
  /** Ids of parts that are others than before, for nodes and for pages. */
  readonly server: ReadonlySet<string>;
  readonly browser: ReadonlySet<string>;
  /** By file: procedures of which nothing but the body has changed. */
  readonly bodies: ReadonlyMap<string, readonly string[]>;
  /** Something is in another place than before, or open to others. */
  readonly isMoved: boolean;
  readonly moves: readonly Move[];
}

/** Where procedures are: names of nodes, and `page`. */
export type PlacesOf = (segments: readonly string[], application: Application) => readonly string[];

export function difference(
  before: Application,
  after: Application,
  placesOf: PlacesOf,
): Difference {
  const server = new Set<string>();
  const browser = new Set<string>();
  const bodies = new Map<string, readonly string[]>();
  for (const file of new Set([...before.cut.keys(), ...after.cut.keys()])) {
    const [one, other] = [before.cut.get(file), after.cut.get(file)];
    const added: string[] = [];
    for (const [side, ids] of [
      ["server", server],
      ["browser", browser],
    ] as const)
      for (const part of changedParts(one?.parts[side], other?.parts[side])) {
        added.push(part);
        ids.add(idOf(file, part, side));
        // What stands for the body in a page has its exports by their names.
        if (part === "face" && side === "browser" && namesIn(one, before) !== namesIn(other, after))
          ids.add(partId.body(file));
        // A module that is split for the first time, or is whole again, has another text for everyone.
        if (part === "face" && (one === undefined || other === undefined))
          ids.add(partId.shared(file));
      }
    if (
      added.length > 0 &&
      added.every((part) => part === "body") &&
      one?.parts.server.body?.unpadded !== other?.parts.server.body?.unpadded
    )
      bodies.set(
        file,
        (other?.procedures ?? []).map((procedure) => procedure.fqn),
      );
  }
  for (const file of new Set([...before.trimmed.keys(), ...after.trimmed.keys()]))
    if (before.trimmed.get(file)?.unpadded !== after.trimmed.get(file)?.unpadded) browser.add(file);
  return { server, browser, bodies, ...moved(before, after, placesOf) };
}

type PartName = "face" | "shared" | "body";

function namesIn(cut: CutModule | undefined, { clients }: Application): string {
  return cut === undefined ? "" : heldNames(cut, clients).join();
}

/** A body that grows moves what its neighbours hold, and changes nothing in them. */
function changedParts(
  one: SplitModule | undefined,
  other: SplitModule | undefined,
): readonly PartName[] {
  if (one === other) return [];
  return (["face", "shared", "body"] as const).filter(
    (part) => one?.[part]?.unpadded !== other?.[part]?.unpadded,
  );
}

function idOf(file: string, part: PartName, side: Side): string {
  if (part === "face") return file;
  if (part === "shared") return partId.shared(file);
  return side === "server" ? partId.body(file) : codeId(file);
}

function moved(
  before: Application,
  after: Application,
  placesOf: PlacesOf,
): Pick<Difference, "isMoved" | "moves"> {
  const [was, is] = [rowsOf(before, placesOf), rowsOf(after, placesOf)];
  const keys = [...new Set([...was.keys(), ...is.keys()])];
  const moves = keys.flatMap((key) => {
    const [from, to] = [was.get(key)?.places ?? [], is.get(key)?.places ?? []];
    return from.join() === to.join()
      ? []
      : [{ fqn: (is.get(key) ?? was.get(key))?.fqn ?? key, from, to }];
  });
  return { isMoved: keys.some((key) => was.get(key)?.as !== is.get(key)?.as), moves };
}

interface Row {
  readonly fqn: string;
  readonly places: readonly string[];
  /** What nodes and pages know of it. */
  readonly as: string;
}

function rowsOf(application: Application, placesOf: PlacesOf): ReadonlyMap<string, Row> {
  return new Map(
    application.procedures.map(({ fqn, version, module, export: name, parameters, entries }) => {
      const places = placesOf(
        entries.map(({ segment }) => segment.name),
        application,
      );
      const access = entries
        .map(({ segment, entry }) => `${segment.name} ${entry.access} ${entry.safe === true}`)
        .sort();
      return [
        procedureKey(fqn, version),
        { fqn, places, as: JSON.stringify([access, module.id, name, parameters]) },
      ];
    }),
  );
}
