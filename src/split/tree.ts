// The tree of a source module (ESTree with TypeScript and JSX nodes), as the parser of the build gives it. The splitter
// is written against the shape of the tree, not against a parser: the build lends one (`vite` has it), so `src` needs none.

/** A node of the tree. Offsets count UTF-16 units, so `source.slice(start, end)` is its text. */
export interface Node {
  readonly type: string;
  readonly start: number;
  readonly end: number;
  readonly [key: string]: unknown;
}

export interface Comment {
  readonly start: number;
  readonly end: number;
  readonly value: string;
}

/** What a parser found to be no program. */
export interface ParseError {
  readonly message: string;
  readonly labels?: readonly { readonly start: number; readonly end: number }[];
}

/** `program`'s tree, every comment of the text in order, and what could not be read. */
export interface ParsedModule {
  readonly program: unknown;
  readonly comments: readonly Comment[];
  readonly errors: readonly ParseError[];
}

/** Reads a module; the file's extension says whether it holds types and JSX. Never throws for bad text. */
export type Parse = (file: string, source: string) => ParsedModule;
