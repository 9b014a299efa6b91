// Types of application modules that don't come through an `import`.

import type { Context } from "../base/context.ts";
import type { ModuleNamespace } from "../base/ports.ts";

/**
 * A function that segment files may name: async, an `async function*` for a stream, with any parameters and any
 * `this`. To have the compiler check it: `export const quote = (async (sku: string) => …) satisfies Procedure`.
 */
export type Procedure = (this: never, ...args: never[]) => Returned;

/** @internal */
export type Returned = Promise<unknown> | AsyncIterable<unknown>;

/**
 * The application's modules by path. Empty until a project includes the declarations that a build
 * writes (`.seamline/modules.d.ts`): then `client.import("./shop/quote.js")` has the module's type,
 * and editors complete its path.
 */
export interface Modules {}

// Helper types, marked so that the reference leaves them out.
/** @internal */
type Extension = "js" | "ts" | "jsx" | "tsx" | "mjs" | "mts";
/** @internal */
type Inside<Path extends string> = Path extends `./${infer Rest}` ? Rest : Path;
/** @internal */
type Bare<Path extends string> = Path extends `${infer Rest}.${Extension}` ? Rest : Path;

/** The module at a path, with any extension or none. */
export type ModuleAt<Path> = Path extends keyof Modules
  ? Modules[Path]
  : Path extends string
    ? `./${Bare<Inside<Path>>}.js` extends infer Key extends keyof Modules
      ? Modules[Key]
      : ModuleNamespace
    : ModuleNamespace;

/**
 * A module as pages see it: procedures that declare `this: Context` can be called without one,
 * since the node makes it. Everything else has the type of its source.
 */
export type Imported<Module> = { readonly [Name in keyof Module]: WithoutContext<Module[Name]> };

/** @internal */
// Keep functions with `this: unknown` or none: inferring would lose a generic's type parameters.
type WithoutContext<Value> = Value extends (this: infer This, ...args: infer Args) => infer Result
  ? unknown extends This
    ? Value
    : Context extends This
      ? (...args: Args) => Result
      : Value
  : Value;

/**
 * Calls a procedure by name: `name` is its FQN (`shop/quote`), `args` has values by parameter name,
 * and
 * `context` is `this` of the calling procedure. `runProcedure<typeof quote>("shop/quote", …)` has
 * the type of `quote`'s result; of a stream that is its async iterator.
 */
export type RunProcedure = <Called extends Procedure = Procedure>(
  name: string,
  version?: string,
  args?: Readonly<Record<string, unknown>>,
  context?: unknown,
) => Promise<
  Called extends (this: never, ...args: never[]) => infer Result ? Awaited<Result> : never
>;
