// Types of fakes for procedures in tests.

import type { Context } from "../base/context.ts";
import type { Modules, Procedure } from "./imported.ts";

/**
 * Replaces a procedure: the same parameters, `this` is the call's context, and it needn't be async.
 */
export type Fake<Replaced> = Replaced extends (...args: infer Args) => infer Result
  ? (this: Context, ...args: Args) => Result | Awaited<Result>
  : never;

/** If a procedure's type isn't known, the fake declares it: `(sku: string) => …`. */
export type AnyFake = (this: Context, ...args: never[]) => unknown;

/** @internal */
type Extension = "js" | "ts" | "jsx" | "tsx" | "mjs" | "mts";
/** @internal */
type Inside<Path extends string> = Path extends `./${infer Rest}` ? Rest : Path;
/** @internal */
type Bare<Path extends string> = Path extends `${infer Rest}.${Extension}` ? Rest : Path;

/**
 * `shop/quote` and `stock` → `shop/stock`: the directory of the module, then the name. @internal
 */
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
 * The procedures of modules, by FQN: `ProceduresOf<{ "./shop/quote": typeof
 * import("../src/shop/quote.ts") }>`. The default are the modules of `.seamline/modules.d.ts`.
 */
export type ProceduresOf<Of = Modules> = [keyof Of] extends [never]
  ? {}
  : Together<{ [Path in keyof Of & string]: ProceduresIn<Path, Of[Path]> }[keyof Of & string]>;

/** Fakes by FQN; any name, if the types of the application's modules aren't known. */
export type Fakes<Procedures> = [keyof Procedures] extends [never]
  ? Readonly<Record<string, AnyFake>>
  : { readonly [Fqn in keyof Procedures]?: Fake<Procedures[Fqn]> };
