// The client of a page (§4.6), as its users see it: its type is public on every host, its code is the browser's.

import type { ObservedCall } from "./dispatch.ts";
import type { Imported, ModuleAt, Modules } from "./imported.ts";

/** A started page (§4.6). */
export interface Client {
  /**
   * The module at `path`, relative to the source root: `client.import("./shop/quote.js")`. Its segmented exports run where their segments are.
   * Its type comes from `.seamline/modules.d.ts`, or is given: `client.import<typeof import("./shop/quote")>("./shop/quote.js")`.
   */
  // oxlint-disable-next-line typescript/no-redundant-type-constituents -- it is empty here, and filled in an application
  import<
    Module = never,
    const Path extends keyof Modules | (string & {}) = keyof Modules | (string & {}),
  >(
    path: Path,
  ): Promise<Imported<[Module] extends [never] ? ModuleAt<Path> : Module>>;
  /** Reports each call through a seam: where it ran and how long it took. The returned function ends it. */
  observe(listener: (call: ObservedCall) => void): () => void;
}

/** Starts the page as a node on the first call, and adds segments to it on a later one (§4.6). */
export type StartClient = (...segments: string[]) => Promise<Client>;
