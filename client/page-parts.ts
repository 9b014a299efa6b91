// The parts of a page that the files of its runtime give each other. Only types: the files load each other.

import type { Manifest } from "../src/base/manifest.ts";
import type { Clock, ModuleNamespace } from "../src/base/ports.ts";

/** The parts of a page or a worker that the client uses. */
export interface Browser {
  readonly clock: Clock;
  /**
   * `https://shop.example`, or `https://shop.example/shop` if the runtime was loaded from there: calls go to the
   * service that served the page.
   */
  readonly base: string;
  /** Revision of the build that made the page; `undefined` if no build did. */
  readonly revision: string | undefined;
  /** The manifest of that build as JSON, if it is small enough to be in the page. */
  readonly manifest: string | undefined;
  /**
   * Fetches a module without running it, or applies a style sheet. Rejects if it is missing or
   * doesn't match `integrity`.
   */
  preload(url: string, integrity: string): Promise<void>;
  import(url: string): Promise<ModuleNamespace>;
  warn(line: string, cause: unknown): void;
}

export interface Revisions {
  /**
   * Runs `act` with the page's manifest. If something in an earlier manifest no longer exists (any
   * {@link NotFound}), the manifest is dropped and `act` runs again with a fresh one.
   */
  use<T>(act: (manifest: Manifest, isCached: boolean) => Promise<T>): Promise<T>;
}
