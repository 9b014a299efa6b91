// What application modules are to the compiler where they don't come by an `import`: types only.

import type { Context } from "./context.ts";
import type { ModuleNamespace } from "./ports.ts";

/**
 * What segment files may name: an async function with any parameters and any `this`. A function that isn't async is marked
 * where it says so: `export const quote = (async (sku: string) => …) satisfies Procedure`.
 */
export type Procedure = (this: never, ...args: never[]) => Promise<unknown>;

/**
 * The modules of the application by their paths. Empty, until the declarations that a build writes (`.seamline/modules.d.ts`) are part of
 * a project: from then on `client.import("./shop/quote.js")` has the type of that module, and editors complete its path.
 */
export interface Modules {}

// Steps on the way to the types that are for people, marked so that the reference leaves them out.
/** @internal */
type Extension = "js" | "ts" | "jsx" | "tsx" | "mjs" | "mts";
/** @internal */
type Inside<Path extends string> = Path extends `./${infer Rest}` ? Rest : Path;
/** @internal */
type Bare<Path extends string> = Path extends `${infer Rest}.${Extension}` ? Rest : Path;

/** The module that a path names: as it stands, or with another extension or none (§4.6). */
export type ModuleAt<Path> = Path extends keyof Modules
  ? Modules[Path]
  : Path extends string
    ? `./${Bare<Inside<Path>>}.js` extends infer Key extends keyof Modules
      ? Modules[Key]
      : ModuleNamespace
    : ModuleNamespace;

/**
 * A module as a page calls it: a procedure that declares `this: Context` takes a call without one, as its context is the node's to make. All
 * else has the type that it has in its source.
 */
export type Imported<Module> = { readonly [Name in keyof Module]: WithoutContext<Module[Name]> };

/** @internal */
// `this: unknown` or none is left as it is: taken apart, a generic function would lose its type parameters.
type WithoutContext<Value> = Value extends (this: infer This, ...args: infer Args) => infer Result
  ? unknown extends This
    ? Value
    : Context extends This
      ? (...args: Args) => Result
      : Value
  : Value;

/**
 * Calls a procedure by its name (§4.6): `name` is `module/name`, `args` an object of values by parameter name, `context` is `this` of the
 * calling procedure. `runProcedure<typeof quote>("shop/quote", …)` has the type of `quote`'s result.
 */
export type RunProcedure = <Called extends Procedure = Procedure>(
  name: string,
  version?: string,
  args?: Readonly<Record<string, unknown>>,
  context?: unknown,
) => Promise<
  Called extends (this: never, ...args: never[]) => Promise<infer Result> ? Result : never
>;
