// One module becomes three: face, shared part and body (docs/architecture.md).

import type { Parameter } from "../manifest.ts";
import type { Problem } from "../problem.ts";
import type { Parse } from "./tree.ts";

export type { Parse, ParsedModule } from "./tree.ts";

/** An export that a segment names. */
export interface SegmentedExport {
  readonly export: string;
  readonly fqn: string;
  /** Three numbers. */
  readonly version: string;
  readonly parameters: readonly Parameter[];
}

/** Version 3. `sourcesContent` holds the text of this part only, the rest of the source blanked. */
export interface SourceMap {
  readonly version: number;
  readonly sources: string[];
  readonly sourcesContent: string[];
  readonly names: string[];
  readonly mappings: string;
}

export interface Part {
  /** In the language of the source file: types and JSX are still in it. */
  readonly code: string;
  readonly map: SourceMap;
}

export interface SplitInput {
  readonly source: string;
  /** Names the source in problems and maps; its extension says the language. */
  readonly file: string;
  readonly parse: Parse;
  /** Every export of this module that some segment names. */
  readonly procedures: readonly SegmentedExport[];
  /** Export names of the procedures whose code this build may hold. */
  readonly held: ReadonlySet<string>;
  readonly environment: "browser" | "server";
  /** What the parts import each other, and the graph's module, by. */
  readonly ids: { readonly face: string; readonly shared: string; readonly graph: string };
}

export interface SplitModule {
  /** The same in every build, whatever is held. */
  readonly face: Part;
  /** `undefined` when it would hold nothing. */
  readonly shared: Part | undefined;
  /** `undefined` when this build holds no procedure of the module. */
  readonly body: Part | undefined;
  /** Of the module as a whole, so the same for both builds. */
  readonly problems: readonly Problem[];
  readonly warnings: readonly Problem[];
}

/** Splits a module. Never throws for what the source says: look at `problems`, with any of which the parts are not to be used. */
export function splitModule(input: SplitInput): SplitModule {
  void input;
  throw new Error("not written yet");
}
