// The modules that segments cut, each split once for nodes and once for browsers (architecture §1).

import {
  type KeptBack,
  type Parse,
  type Part,
  type SegmentedExport,
  type SplitModule,
  type Variant,
  splitVariants,
} from "../../src/split/split-module.ts";
import type { FileMemory } from "./file-memory.ts";
import { closedIn, isClosed, keptBackOf } from "./kept-back.ts";
import type { Modules, SourceModule } from "./modules.ts";
import type { Procedure } from "./procedures.ts";

/** What the virtual module of the graph is imported by. */
export const graphId = "seamline:graph";

/** The parts of a module by their ids; the face has the id of the file itself. */
export const partId: {
  readonly shared: (file: string) => string;
  readonly body: (file: string) => string;
} = {
  shared: (file) => `${file}?seamline=shared`,
  body: (file) => `${file}?seamline=body`,
};

export type Side = "browser" | "server";

/** A module of which segments name exports. */
export interface CutModule {
  readonly module: SourceModule;
  readonly procedures: readonly Procedure[];
  readonly parts: Readonly<Record<Side, SplitModule>>;
  /** The server's body as it would be if it held only these exports. */
  readonly bodyOf: (held: ReadonlySet<string>) => Part | undefined;
  /** The same with a face for browsers that keeps something back. */
  readonly keepingBack: (what: KeptBack) => CutModule;
}

/** A module with its parts for nodes; those for browsers wait until it is known what browsers may load. */
export interface ServerCut {
  readonly module: SourceModule;
  readonly procedures: readonly Procedure[];
  readonly split: (
    environment: Side,
    held: ReadonlySet<string>,
    keptBack?: KeptBack,
  ) => SplitModule;
  /** With everything held. */
  readonly all: SplitModule;
}

/** Splits every module that declares a procedure. A split depends on the text, on what is said of its procedures, and on what is held. */
export function splitForServer(
  procedures: readonly Procedure[],
  { modules, memory, parse }: { modules: Modules; memory: FileMemory; parse: Parse },
): ReadonlyMap<string, ServerCut> {
  const byModule = new Map<SourceModule, Procedure[]>();
  for (const one of procedures) {
    const here = byModule.get(one.module);
    if (here === undefined) byModule.set(one.module, [one]);
    else here.push(one);
  }
  const cut = new Map<string, ServerCut>();
  for (const [module, here] of byModule) {
    const known = memory.of<{ splits?: Splits }>(module.file, "splits", () => ({}));
    if (known.splits === undefined || !known.splits.areOf(here))
      known.splits = new Splits(module, here, { modules, memory, parse });
    const { splits } = known;
    cut.set(module.file, {
      module,
      procedures: here,
      split: splits.get.bind(splits),
      all: splits.all,
    });
  }
  return cut;
}

/** The splits of one state of a module. Those that nearly every module needs are made at once, from one reading of it. */
class Splits {
  readonly #module: SourceModule;
  readonly #procedures: readonly SegmentedExport[];
  readonly #closed: string;
  readonly #text: string;
  readonly #parse: Parse;
  readonly #known = new Map<string, SplitModule>();
  readonly all: SplitModule;

  constructor(
    module: SourceModule,
    procedures: readonly Procedure[],
    { modules, memory, parse }: { modules: Modules; memory: FileMemory; parse: Parse },
  ) {
    this.#module = module;
    this.#procedures = procedures.map(({ export: name, fqn, version, parameters }) => ({
      export: name,
      fqn,
      version,
      parameters,
    }));
    this.#text = modules.text(module.file);
    this.#parse = parse;
    const everything = new Set(this.#procedures.map((one) => one.export));
    const usual: Variant[] = [
      { environment: "server", held: everything },
      { environment: "browser", held: everything },
      { environment: "browser", held: new Set() },
    ];
    // Which segments are for browsers is not known yet; most that aren't public are in others.
    const closed = closedIn(modules.describe(module), procedures, []);
    if (closed.size > 0)
      usual.push({
        environment: "browser",
        held: new Set(),
        keptBack: keptBackOf(closed, [...closed.keys()]),
      });
    this.#closed = closedNames(procedures);
    const rests = [
      "splits",
      module.file,
      module.name,
      this.#text,
      JSON.stringify(this.#procedures),
      ...usual.map(keyOf),
    ];
    const made = unpacked(memory.lasting(rests, () => packed(this.#split(usual))));
    for (const [at, variant] of usual.entries())
      this.#known.set(keyOf(variant), made[at] as SplitModule);
    this.all = this.get("server", everything);
  }

  /** Whether the same is said of the same procedures. The text is the same as long as this is remembered. */
  areOf(procedures: readonly Procedure[]): boolean {
    return (
      procedures.length === this.#procedures.length &&
      closedNames(procedures) === this.#closed &&
      this.#procedures.every(({ export: name, fqn, version, parameters }, at) => {
        const other = procedures[at];
        return (
          name === other?.export &&
          fqn === other.fqn &&
          version === other.version &&
          parameters === other.parameters
        );
      })
    );
  }

  get(environment: Side, held: ReadonlySet<string>, keptBack?: KeptBack): SplitModule {
    const variant = { environment, held, keptBack };
    const known = this.#known.get(keyOf(variant));
    if (known !== undefined) return known;
    const [made] = this.#split([
      keptBack === undefined ? variant : { ...variant, held: new Set() },
    ]) as [SplitModule];
    // Only the face depends on what is kept back; the other parts stay the objects that they are.
    const split =
      keptBack === undefined ? made : { ...this.get(environment, held), face: made.face };
    this.#known.set(keyOf(variant), split);
    return split;
  }

  #split(variants: readonly Variant[]): readonly SplitModule[] {
    const { file, name } = this.#module;
    const ids = { face: file, shared: partId.shared(file), graph: graphId };
    return splitVariants(
      { source: this.#text, file: name, parse: this.#parse, procedures: this.#procedures, ids },
      variants,
    );
  }
}

function closedNames(procedures: readonly Procedure[]): string {
  return procedures.map((one) => (isClosed(one, []) ? one.export : "")).join();
}

/** Splits of one module as plain data. Parts that are the same in several are the same objects, before and after. */
interface Packed {
  readonly parts: readonly Part[];
  readonly splits: readonly (Omit<SplitModule, PartName> &
    Readonly<Partial<Record<PartName, number>>>)[];
}

type PartName = "face" | "shared" | "body";

function packed(splits: readonly SplitModule[]): Packed {
  const parts: Part[] = [];
  const placeOf = (part: Part | undefined): number | undefined => {
    if (part === undefined) return undefined;
    if (!parts.includes(part)) parts.push(part);
    return parts.indexOf(part);
  };
  const numbered = splits.map(({ face, shared, body, problems, warnings }) => {
    const places = Object.entries({
      face: placeOf(face),
      shared: placeOf(shared),
      body: placeOf(body),
    });
    return {
      problems,
      warnings,
      ...Object.fromEntries(places.filter(([, place]) => place !== undefined)),
    };
  });
  return { parts, splits: numbered };
}

function unpacked({ parts, splits }: Packed): readonly SplitModule[] {
  const partAt = (place: number | undefined): Part | undefined =>
    place === undefined ? undefined : parts[place];
  return splits.map(({ face, shared, body, problems, warnings }) => ({
    face: partAt(face) as Part,
    shared: partAt(shared),
    body: partAt(body),
    problems,
    warnings,
  }));
}

function keyOf({ environment, held, keptBack }: Variant): string {
  const key = held.size === 0 ? environment : [environment, ...[...held].sort()].join();
  return keptBack === undefined
    ? key
    : JSON.stringify([key, [...keptBack.closed].map(String).sort(), [...keptBack.unnamed].sort()]);
}

/** The browser's bodies hold what segments that browsers may load name, and nothing else. */
export function addBrowser(
  server: ReadonlyMap<string, ServerCut>,
  clients: readonly string[],
): ReadonlyMap<string, CutModule> {
  const cut = new Map<string, CutModule>();
  for (const [file, { module, procedures, split, all }] of server) {
    const mayLoad = procedures.filter((one) =>
      one.entries.some(({ segment }) => clients.includes(segment.name)),
    );
    const held = new Set(mayLoad.map((one) => one.export));
    const cutFor = (keptBack?: KeptBack): CutModule => ({
      module,
      procedures,
      parts: { browser: split("browser", held, keptBack), server: all },
      bodyOf: (exports) => split("server", exports).body,
      keepingBack: cutFor,
    });
    cut.set(file, cutFor());
  }
  return cut;
}
