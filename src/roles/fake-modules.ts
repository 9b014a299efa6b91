// Modules of an application of which only some procedures are there, and those are stand-ins: what tests put in the place of a node.

import type { Fake } from "../fake.ts";
import { traceLine } from "../fqn.ts";
import {
  entryOf,
  type ProcedureRecord,
  type SegmentEntry,
  type ServerManifest,
} from "../manifest.ts";
import type { ModuleNamespace } from "../ports.ts";
import { nearest } from "../problem.ts";
import { createGraph, type Graph, type Procedure } from "../seam.ts";
import type { ServerModules } from "./load-node.ts";

export type FakeProcedure = Fake<Procedure>;

export interface FakeModulesParts {
  readonly manifest: ServerManifest;
  /** What stands for a procedure; one that has nothing is not there. */
  readonly fakeOf: (record: ProcedureRecord) => FakeProcedure | undefined;
  /** Imports the module of a class. */
  readonly import: (file: string) => Promise<ModuleNamespace>;
}

/** A function that calls see as a procedure: with a context in every case (decisions §5), and a trace line on what it throws (§7.1). */
export function standIn(
  record: ProcedureRecord,
  graph: Pick<Graph, "context" | "traced">,
  fake: FakeProcedure,
): Procedure {
  const line = traceLine(record.fqn, record.version);
  return async function (this: unknown, ...args) {
    // Before anything is waited for: the context of a call is there for whoever asks first.
    const context = graph.context(this, line);
    try {
      return await fake.apply(context, args);
    } catch (thrown) {
      throw graph.traced(thrown, line);
    }
  };
}

const graphName = "fake:graph";
const prefix = "fake:";

export function fakeModules(parts: FakeModulesParts): ServerModules {
  const { manifest } = parts;
  const graph = createGraph();
  const kept = manifest.procedures.flatMap((record, index) => {
    const fake = parts.fakeOf(record);
    return fake === undefined ? [] : [{ record, index, run: standIn(record, graph, fake) }];
  });
  const position = new Map(kept.map(({ index }, now) => [index, now]));
  const held = (entries: readonly SegmentEntry[]): SegmentEntry[] =>
    entries.flatMap((entry) => {
      const procedure = position.get(entry.procedure);
      return procedure === undefined ? [] : [{ ...entry, procedure }];
    });
  const bodies = new Map<string, Record<string, unknown>>();
  for (const { record, run } of kept) {
    const name = prefix + record.module;
    const body = bodies.get(name) ?? (Object.create(null) as Record<string, unknown>);
    body[record.export] = run;
    bodies.set(name, body);
  }
  const restricted: ServerManifest = {
    ...manifest,
    graph: graphName,
    procedures: kept.map(({ record }) => record),
    segments: Object.fromEntries(
      Object.entries(manifest.segments).map(([name, entries]) => [name, held(entries)]),
    ),
    modules: {
      ...manifest.modules,
      ...Object.fromEntries(
        kept.map(({ record: { module } }) => [
          module,
          { file: entryOf(manifest.modules, module)?.file ?? "", body: prefix + module },
        ]),
      ),
    },
  };
  return {
    manifest: async () => restricted,
    import: async (file) =>
      file === graphName ? { ...graph } : (bodies.get(file) ?? (await parts.import(file))),
  };
}

/** What to say of a name that no segment file gives to anything. */
export function unknownProcedure(
  fqn: string,
  procedures: readonly { readonly fqn: string }[],
): string {
  const names = [...new Set(procedures.map((one) => one.fqn))];
  const meant = nearest(fqn, names);
  const hint =
    meant === undefined ? `there is ${names.join(", ") || "none"}` : `did you mean '${meant}'?`;
  return `No segment file of the application names a procedure '${fqn}'; ${hint}`;
}
