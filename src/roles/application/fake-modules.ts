// Modules of an application with fakes for some procedures and none of the others: tests use them
// in place of a node.

import type { Fake } from "../../types/fake.ts";
import { traceLine } from "../../base/fqn.ts";
import { begun } from "../../base/trace.ts";
import {
  entryOf,
  type ProcedureRecord,
  type SegmentEntry,
  type ServerManifest,
} from "../../base/manifest.ts";
import type { ModuleNamespace } from "../../base/ports.ts";
import { nearest } from "../../base/problem.ts";
import type { ProcedureFunction } from "../../runtime/procedure-function.ts";
import { createGraph, type Graph } from "../../runtime/seam.ts";
import type { ServerModules } from "./application.ts";

export type FakeProcedure = Fake<ProcedureFunction>;

export interface FakeModulesParts {
  readonly manifest: ServerManifest;
  /** Returns the fake for a procedure; without one the procedure isn't there. */
  readonly fakeOf: (record: ProcedureRecord) => FakeProcedure | undefined;
  /** Whether guards and checks run before fakes. Not where the application's modules can't be loaded. */
  readonly guarded: boolean;
  /** Imports the module of a class or guard. */
  readonly import: (file: string) => Promise<ModuleNamespace>;
}

/** Makes a fake look like a procedure: it gets a context, and its errors a trace line. */
export function standIn(
  record: ProcedureRecord,
  graph: Pick<Graph, "context" | "traced">,
  fake: FakeProcedure,
): ProcedureFunction {
  const line = traceLine(record.fqn, record.version);
  if (record.stream === true)
    return async function* (this: unknown, ...args: never[]) {
      const context = graph.context(this, line);
      const run = begun();
      try {
        return yield* itemsOf(record, await fake.apply(context, args));
      } catch (thrown) {
        throw graph.traced(thrown, line, run);
      }
    } as never;
  return async function (this: unknown, ...args) {
    // Call it before any await: the context of the call is only available now.
    const context = graph.context(this, line);
    const run = begun();
    try {
      return await fake.apply(context, args);
    } catch (thrown) {
      throw graph.traced(thrown, line, run);
    }
  };
}

/** A fake of a stream may be any function that returns items: `async function*`, or one that returns a list. */
function itemsOf({ fqn }: ProcedureRecord, result: unknown): AsyncIterable<unknown> {
  const { [Symbol.asyncIterator]: many, [Symbol.iterator]: some } = Object(result) as Partial<
    AsyncIterable<unknown> & Iterable<unknown>
  >;
  if (typeof many !== "function" && (typeof some !== "function" || typeof result === "string"))
    throw new TypeError(
      `The fake of '${fqn}', a stream, has to return items: make it async function*`,
    );
  return result as AsyncIterable<unknown>;
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
  const keptOf = (entries: readonly SegmentEntry[]): SegmentEntry[] =>
    entries.flatMap((entry) => {
      const procedure = position.get(entry.procedure);
      if (procedure === undefined) return [];
      const { guard: _, ...unguarded } = entry;
      return [{ ...(parts.guarded ? entry : { ...unguarded, validate: false }), procedure }];
    });
  const bodies = new Map<string, Record<string, unknown>>();
  for (const { record, run } of kept) {
    const name = prefix + record.module;
    const body = bodies.get(name) ?? (Object.create(null) as Record<string, unknown>);
    body[record.export] = run;
    bodies.set(name, body);
  }
  const { types: _, ...unchecked } = manifest;
  const restricted: ServerManifest = {
    ...(parts.guarded ? manifest : unchecked),
    graph: graphName,
    routes: {},
    procedures: kept.map(({ record }) => record),
    segments: Object.fromEntries(
      Object.entries(manifest.segments).map(([name, entries]) => [name, keptOf(entries)]),
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

/** The message for a name that isn't in any segment file. */
export function unknownProcedure(
  fqn: string,
  procedures: readonly { readonly fqn: string }[],
): string {
  const names = [...new Set(procedures.map((procedure) => procedure.fqn))];
  const suggestion = nearest(fqn, names);
  const hint =
    suggestion === undefined
      ? `there is ${names.join(", ") || "none"}`
      : `did you mean '${suggestion}'?`;
  return `No segment file of the application names a procedure '${fqn}'; ${hint}`;
}
