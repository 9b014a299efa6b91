// Splits a module that declares procedures into three: face, shared part and body
// (src/split/README.md). In order: read the module, locate its
// procedures, partition its units, write the parts.

import MagicString from "magic-string";

import type { Problem } from "../../base/problem.ts";
import { noCode } from "../describe/describe.ts";
import { writeBody } from "./body.ts";
import { type KeptBack, writeFace } from "./face.ts";
import { blanked } from "./kept-text.ts";
import { locateProcedures, type SegmentedExport } from "../procedures/locate-procedures.ts";
import { type Part, partOf, type PartIds } from "./part.ts";
import { leftOutOfBrowser, partitionUnits, unplaced, writesAcrossParts } from "./partition.ts";
import type { ModuleReading } from "../read/read-module.ts";
import { sharedNames, writeShared } from "./shared-part.ts";

export type { KeptBack } from "./face.ts";
export type { SegmentedExport } from "../procedures/locate-procedures.ts";
export type { Part } from "./part.ts";
export type { Parse } from "../read/tree.ts";

export interface SplitInput {
  readonly reading: ModuleReading;
  /** Every export of this module that some segment names. */
  readonly procedures: readonly SegmentedExport[];
  readonly ids: PartIds;
}

export interface SplitModule {
  /** The same in every build, except for the procedures that it keeps back. */
  readonly face: Part;
  /** `undefined` if it would be empty. */
  readonly shared: Part | undefined;
  /** `undefined` if this build holds no procedure of the module. */
  readonly body: Part | undefined;
  /** About the module as a whole, so the same in every build. */
  readonly problems: readonly Problem[];
  readonly warnings: readonly Problem[];
}

/** The parts of a module that one build may contain. */
export interface Variant {
  /** Export names of the procedures whose code this build may hold. */
  readonly held: ReadonlySet<string>;
  readonly environment: "browser" | "server";
  /** Without it, the face has a seam for every procedure. */
  readonly keptBack?: KeptBack | undefined;
}

/**
 * Splits a module for several builds. Parts that are the same in several are the same object.
 * Mistakes don't throw: if there are `problems`, don't use the parts.
 */
export function splitModule(
  input: SplitInput,
  variants: readonly Variant[],
): readonly SplitModule[] {
  const { reading, ids } = input;
  const { module } = reading;
  if (module === undefined) return variants.map(() => unreadable(reading));
  const { procedures, problems } = locateProcedures(module, input.procedures);
  // Problems, and the names that the shared part exports for bodies, follow from a build that holds
  // everything. So both are the same in every build.
  const whole = partitionUnits(module, procedures, procedures);
  const names = sharedNames(module, procedures, whole);
  const allProblems = [...problems, ...writesAcrossParts(module, procedures, whole)];
  const shared = writeShared(module, procedures, whole, names, ids);
  const faces = new Map<KeptBack | undefined, Part>();
  const bodies = new Map<string, Part | undefined>();
  return variants.map(({ held: heldNames, environment, keptBack }) => {
    const held = procedures.filter(({ record }) => heldNames.has(record.export));
    const partition =
      held.length === procedures.length ? whole : partitionUnits(module, procedures, held);
    const face = faces.get(keptBack) ?? writeFace(module, procedures, ids, keptBack);
    faces.set(keptBack, face);
    const bodyKey = held.map(({ record }) => record.export).join();
    if (!bodies.has(bodyKey))
      bodies.set(bodyKey, writeBody(module, procedures, held, partition, names, ids));
    return {
      face,
      shared,
      body: bodies.get(bodyKey),
      problems: allProblems,
      warnings:
        environment === "server"
          ? unplaced(module, whole)
          : leftOutOfBrowser(module, held, partition),
    };
  });
}

function unreadable({ file, source, problems }: ModuleReading): SplitModule {
  return {
    face: partOf(new MagicString(blanked(source)), file, noCode),
    shared: undefined,
    body: undefined,
    problems,
    warnings: [],
  };
}
