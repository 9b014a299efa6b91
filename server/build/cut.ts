// The modules that segments cut, each split once for nodes and once for browsers (architecture §1).

import { type Parse, type Part, type SplitModule, splitModule } from "../../src/split/split-module.ts";
import type { FileMemory } from "./file-memory.ts";
import type { Modules, SourceModule } from "./modules.ts";
import type { Procedure } from "./procedures.ts";

/** What the virtual module of the graph is imported by. */
export const graphId = "seamline:graph";

/** The parts of a module by their ids; the face has the id of the file itself. */
export const partId: { readonly shared: (file: string) => string; readonly body: (file: string) => string } = {
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
}

/** A module with its parts for nodes; those for browsers wait until it is known what browsers may load. */
export interface ServerCut {
  readonly module: SourceModule;
  readonly procedures: readonly Procedure[];
  readonly split: (environment: Side, held: ReadonlySet<string>) => SplitModule;
  /** With everything held. */
  readonly all: SplitModule;
}

/** Splits every module that declares a procedure. A split depends on the text, on what is said of its procedures, and on what is held. */
export function splitForServer(
  procedures: readonly Procedure[],
  { modules, memory, parse }: { modules: Modules; memory: FileMemory; parse: Parse },
): ReadonlyMap<string, ServerCut> {
  const byModule = new Map<SourceModule, Procedure[]>();
  for (const one of procedures) byModule.set(one.module, [...(byModule.get(one.module) ?? []), one]);
  const cut = new Map<string, ServerCut>();
  for (const [module, here] of byModule) {
    const records = here.map(({ export: name, fqn, version, parameters }) => ({ export: name, fqn, version, parameters }));
    const known = memory.latest(module.file, "splits", JSON.stringify(records), () => new Map<string, SplitModule>());
    const split = (environment: Side, held: ReadonlySet<string>): SplitModule => {
      const key = [environment, ...[...held].sort()].join();
      let made = known.get(key);
      if (made === undefined)
        known.set(
          key,
          (made = splitModule({
            source: modules.text(module.file),
            file: module.name,
            parse,
            procedures: records,
            held,
            environment,
            ids: { face: module.file, shared: partId.shared(module.file), graph: graphId },
          })),
        );
      return made;
    };
    cut.set(module.file, { module, procedures: here, split, all: split("server", new Set(here.map((one) => one.export))) });
  }
  return cut;
}

/** The browser's bodies hold what segments that browsers may load name, and nothing else. */
export function addBrowser(server: ReadonlyMap<string, ServerCut>, clients: readonly string[]): ReadonlyMap<string, CutModule> {
  const cut = new Map<string, CutModule>();
  for (const [file, { module, procedures, split, all }] of server) {
    const mayLoad = procedures.filter((one) => one.entries.some(({ segment }) => clients.includes(segment.name)));
    cut.set(file, {
      module,
      procedures,
      parts: { browser: split("browser", new Set(mayLoad.map((one) => one.export))), server: all },
      bodyOf: (held) => split("server", held).body,
    });
  }
  return cut;
}
