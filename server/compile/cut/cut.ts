// Splits every module with procedures, once for nodes and once for browsers.

import type { CodeDescription } from "../../../src/split/describe/describe.ts";
import {
  type KeptBack,
  type Part,
  type SegmentedExport,
  type SplitModule,
  type Variant,
  splitModule,
} from "../../../src/split/write/split-module.ts";
import { closedIn, isClosed, keptBackOf } from "./closed-procedures.ts";
import { graphId, partId } from "../read/module-ids.ts";
import type { Modules, SourceModule } from "../read/modules.ts";
import { type ApplicationProcedure, groupBy, isRoute } from "./application-procedure.ts";

export type Side = "browser" | "server";

/** A module with procedures. */
export interface CutModule {
  readonly module: SourceModule;
  readonly procedures: readonly ApplicationProcedure[];
  readonly parts: Readonly<Record<Side, SplitModule>>;
  /** The server's body if it held only these exports. */
  readonly bodyOf: (held: ReadonlySet<string>) => Part | undefined;
  /** The same module with a browser's face that keeps something back. */
  readonly keepingBack: (what: KeptBack) => CutModule;
}

/**
 * A module with its parts for nodes. The browser's parts depend on the segments that browsers
 * may load, which aren't known yet.
 */
export interface ServerCut {
  readonly module: SourceModule;
  readonly procedures: readonly ApplicationProcedure[];
  readonly splits: Splits;
}

/**
 * Splits every module that declares a procedure. A split depends on the text, the procedures and
 * which of them are held.
 */
export function splitForServer(
  procedures: readonly ApplicationProcedure[],
  modules: Modules,
): ReadonlyMap<string, ServerCut> {
  const cut = new Map<string, ServerCut>();
  for (const here of groupBy(procedures, ({ module }) => module.file)) {
    const [{ module }] = here;
    const memo = modules.memory.of<{ splits?: Splits }>(module.file, "splits", () => ({}));
    if (memo.splits === undefined || !memo.splits.areOf(here))
      memo.splits = new Splits(module, here, modules);
    cut.set(module.file, { module, procedures: here, splits: memo.splits });
  }
  return cut;
}

/** The splits of one version of a module. Those that nearly every module needs are made at once. */
class Splits {
  readonly #module: SourceModule;
  readonly #procedures: readonly SegmentedExport[];
  readonly #closed: string;
  readonly #modules: Modules;
  readonly #splits = new Map<string, SplitModule>();
  /** The server's split, with every procedure held. */
  readonly all: SplitModule;

  constructor(module: SourceModule, procedures: readonly ApplicationProcedure[], modules: Modules) {
    this.#module = module;
    this.#procedures = procedures.map(({ export: name, fqn, version, parameters, route }) => ({
      export: name,
      fqn,
      version,
      parameters,
      ...(route !== undefined && { route: true as const }),
    }));
    this.#modules = modules;
    const everything = new Set(this.#procedures.map((procedure) => procedure.export));
    const usual: Variant[] = [
      { environment: "server", held: everything },
      { environment: "browser", held: everything },
      { environment: "browser", held: new Set() },
    ];
    // The segments for browsers aren't known yet, but most procedures that aren't public are in
    // others.
    const closed = closedIn(modules.describe(module), procedures, []);
    if (closed.size > 0)
      usual.push({
        environment: "browser",
        held: new Set(),
        keptBack: keptBackOf(closed, [...closed.keys()]),
      });
    this.#closed = closedNames(procedures);
    const made = this.#split(usual);
    for (const [at, variant] of usual.entries())
      this.#splits.set(keyOf(variant), made[at] as SplitModule);
    this.all = this.get("server", everything);
  }

  /** Whether these are the same procedures with the same records. The text can't have changed. */
  areOf(procedures: readonly ApplicationProcedure[]): boolean {
    return (
      procedures.length === this.#procedures.length &&
      closedNames(procedures) === this.#closed &&
      this.#procedures.every(({ export: name, fqn, version, parameters, route = false }, at) => {
        const procedure = procedures[at];
        return (
          name === procedure?.export &&
          fqn === procedure.fqn &&
          version === procedure.version &&
          parameters === procedure.parameters &&
          route === (procedure.route !== undefined)
        );
      })
    );
  }

  get(environment: Side, held: ReadonlySet<string>, keptBack?: KeptBack): SplitModule {
    const variant = { environment, held, keptBack };
    const cached = this.#splits.get(keyOf(variant));
    if (cached !== undefined) return cached;
    const [made] = this.#split([
      keptBack === undefined ? variant : { ...variant, held: new Set() },
    ]) as [SplitModule];
    // Only the face depends on `keptBack`, so the other parts stay the same objects.
    const split =
      keptBack === undefined ? made : { ...this.get(environment, held), face: made.face };
    this.#splits.set(keyOf(variant), split);
    return split;
  }

  #split(variants: readonly Variant[]): readonly SplitModule[] {
    const { file } = this.#module;
    const ids = { face: file, shared: partId.shared(file), graph: graphId };
    const reading = this.#modules.read(this.#module);
    return splitModule({ reading, procedures: this.#procedures, ids }, variants);
  }
}

function closedNames(procedures: readonly ApplicationProcedure[]): string {
  return procedures.map((procedure) => (isClosed(procedure, []) ? procedure.export : "")).join();
}

function keyOf({ environment, held, keptBack }: Variant): string {
  const key = held.size === 0 ? environment : [environment, ...[...held].sort()].join();
  return keptBack === undefined
    ? key
    : JSON.stringify([key, [...keptBack.closed].map(String).sort(), [...keptBack.unnamed].sort()]);
}

/**
 * The parts that an import of a split module leads to: the face, which has its re-exports, and the
 * shared part. A body is behind a seam.
 */
export function importedParts({ face, shared }: SplitModule): readonly CodeDescription[] {
  return shared === undefined ? [face.description] : [face.description, shared.description];
}

/** Adds the browser's parts. Bodies hold only procedures of segments that browsers may load. */
export function addBrowser(
  server: ReadonlyMap<string, ServerCut>,
  browserSegments: readonly string[],
): ReadonlyMap<string, CutModule> {
  const cut = new Map<string, CutModule>();
  for (const [file, { module, procedures, splits }] of server) {
    const mayLoad = procedures.filter(
      // A page can't answer requests.
      (procedure) =>
        !isRoute(procedure) &&
        procedure.entries.some(({ segment }) => browserSegments.includes(segment.name)),
    );
    const held = new Set(mayLoad.map((procedure) => procedure.export));
    const cutFor = (keptBack?: KeptBack): CutModule => ({
      module,
      procedures,
      parts: { browser: splits.get("browser", held, keptBack), server: splits.all },
      bodyOf: (exports) => splits.get("server", exports).body,
      keepingBack: cutFor,
    });
    cut.set(file, cutFor());
  }
  return cut;
}
