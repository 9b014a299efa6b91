// The client of a page, as applications see it. Its type exists on every host; its code is in
// client/.

import type { Imported, ModuleAt, Modules } from "./imported.ts";
import type { ObservedCall } from "./outgoing-call.ts";

/** @internal */
// oxlint-disable-next-line typescript/no-redundant-type-constituents -- empty here, filled in an application
type ModulePath = keyof Modules | (string & {});

/** A started page. */
export interface Client {
  /**
   * The module at `path`, relative to the source root: `client.import("./shop/quote.js")`. Its
   * procedures run where their segments are. Its type comes from `.seamline/modules.d.ts`, or from
   * you: `client.import<typeof import("./shop/quote")>("./shop/quote.js")`.
   */
  import<Module = never, const Path extends ModulePath = ModulePath>(
    path: Path,
  ): Promise<Imported<[Module] extends [never] ? ModuleAt<Path> : Module>>;
  /**
   * Reports each call of a procedure: where it ran and how long it took. Returns a function that
   * ends the reports.
   */
  observe(listener: (call: ObservedCall) => void): () => void;
}

/** Starts the page as a node on the first call, and adds segments to it on later ones. */
export type StartClient = (...segments: string[]) => Promise<Client>;
