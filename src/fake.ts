// Stand-ins for procedures, as tests write them: types only.

import type { Context } from "./context.ts";
import type { Modules, Procedure } from "./imported.ts";

/** A function in a procedure's place: the same parameters, `this` is the call's context, and it need not be async. */
export type Fake<Replaced> = Replaced extends (...args: infer Args) => infer Result
  ? (this: Context, ...args: Args) => Result | Awaited<Result>
  : never;

/** Where nothing is known of a procedure's type: the stand-in says it, `(sku: string) => …`. */
export type AnyFake = (this: Context, ...args: never[]) => unknown;

/** @internal */
type Extension = "js" | "ts" | "jsx" | "tsx" | "mjs" | "mts";
/** @internal */
type Inside<Path extends string> = Path extends `./${infer Rest}` ? Rest : Path;
/** @internal */
type Bare<Path extends string> = Path extends `${infer Rest}.${Extension}` ? Rest : Path;

/** `shop/quote` and `stock` → `shop/stock`: the directory of the module, then the name (decisions §1). @internal */
type FqnOf<
  Path extends string,
  Name extends string,
  Before extends string = "",
> = Path extends `${infer Folder}/${infer Rest}`
  ? FqnOf<Rest, Name, `${Before}${Folder}/`>
  : `${Before}${Name}`;

/** @internal */
type ProceduresIn<Path extends string, Module> = {
  [
    Name in keyof Module & string as Module[Name] extends Procedure
      ? FqnOf<Bare<Inside<Path>>, Name>
      : never
  ]: Module[Name];
};

/** @internal */
type Together<Union> = (Union extends unknown ? (one: Union) => void : never) extends (
  all: infer All,
) => void
  ? All
  : never;

/**
 * The functions that segment files may name, by FQN, of modules by their paths. Left out, the modules are those of `.seamline/modules.d.ts`:
 * `ProceduresOf<{ "./shop/quote": typeof import("../src/shop/quote.ts") }>`.
 */
export type ProceduresOf<Of = Modules> = [keyof Of] extends [never]
  ? {}
  : Together<{ [Path in keyof Of & string]: ProceduresIn<Path, Of[Path]> }[keyof Of & string]>;

/** Stand-ins by FQN; any name, as long as nothing is known of the application's modules. */
export type Fakes<Procedures> = [keyof Procedures] extends [never]
  ? Readonly<Record<string, AnyFake>>
  : { readonly [Fqn in keyof Procedures]?: Fake<Procedures[Fqn]> };
