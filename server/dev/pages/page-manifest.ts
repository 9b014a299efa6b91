// The manifest for pages: of the last application without problems, with a revision that changes
// with it.

import type { Manifest } from "../../../src/base/manifest.ts";
import type { Application } from "../../compile/cut/application.ts";
import { browserManifest } from "../session/manifest.ts";

export interface PageManifestOptions {
  readonly application: () => Promise<Application>;
  /** Whether the application has problems now. */
  readonly hasProblems: () => boolean;
  /** The path at which pages currently request a module. */
  readonly addressOf: (id: string) => string;
}

export class PageManifest {
  readonly #options: PageManifestOptions;
  // Makes revisions unique to a session, so that a page never reuses another session's cache.
  readonly #session = Date.now().toString(36);
  #text = "";
  #latest: Manifest | undefined;
  #revisions = 0;

  constructor(options: PageManifestOptions) {
    this.#options = options;
  }

  /** Rejects with `Problems` until the application has been read without problems once. */
  async current(): Promise<Manifest> {
    const application = await this.#options.application();
    // Keep serving the last valid manifest while there are problems.
    if (this.#latest !== undefined && this.#options.hasProblems()) return this.#latest;
    const manifest = await browserManifest(application, "", this.#options.addressOf);
    const text = JSON.stringify(manifest);
    if (text !== this.#text) this.#revisions++;
    this.#text = text;
    return (this.#latest = {
      ...manifest,
      revision: `development-${this.#session}-${this.#revisions}`,
    });
  }
}
