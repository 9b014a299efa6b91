// The client of a page, as applications see it. Its type exists on every host; its code is in
// client/.

import type { Imported, ModuleAt, Modules } from "./imported.ts";
import type { OptionHeaders } from "./call-options.ts";
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

/**
 * Returns headers for a call that leaves the page, by name; `undefined` removes an inherited one.
 */
export type PageHeaders = () => OptionHeaders | Promise<OptionHeaders>;

/** How to start a page. */
export interface ClientOptions {
  /** The segments that the page loads; none by default. */
  readonly segments?: readonly string[] | undefined;
  /**
   * Asked for each call that leaves the page, local calls aside. If it rejects, so does the call.
   * A later `startClient` with `headers` replaces it.
   */
  readonly headers?: PageHeaders | undefined;
}

/**
 * Starts the page as a node on the first call, and adds segments to it on later ones:
 * `startClient("ui")` or `startClient({ segments: ["ui"], headers })`.
 */
export type StartClient = (...segments: string[] | [options: ClientOptions]) => Promise<Client>;

/** Which build a page is of, and which is deployed. */
export interface Outdated {
  /** The revision of the page's build. */
  readonly revision: string;
  /** The revision of the deployed build. */
  readonly current: string;
}

/**
 * Dispatched on `window`, once for each load of a page, when a call can't go on because another build
 * was deployed: its procedure or version is gone, its parameters or classes have changed. Ask the
 * user to reload the page.
 */
export interface OutdatedEvent {
  readonly type: "seamline:outdated";
  readonly detail: Outdated;
}

declare global {
  // The events that `addEventListener` of a window knows.
  interface WindowEventMap {
    "seamline:outdated": OutdatedEvent;
  }
}
