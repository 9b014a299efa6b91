// The client of a page (§4.6), as its users see it: its type is public on every host, its code is the browser's.

import type { ObservedCall } from "./dispatch.ts";
import type { ModuleNamespace } from "./ports.ts";

/** A started page (§4.6). */
export interface Client {
  /**
   * The module at `path`, relative to the source root: `client.import<typeof import('./shop/quote')>('./shop/quote.js')`.
   * Its segmented exports run where their segments are.
   */
  import<Module = ModuleNamespace>(path: string): Promise<Module>;
  /** Reports each call through a seam: where it ran and how long it took. The returned function ends it. */
  observe(listener: (call: ObservedCall) => void): () => void;
}

/** Starts the page as a node on the first call, and adds segments to it on a later one (§4.6). */
export type StartClient = (...segments: string[]) => Promise<Client>;
