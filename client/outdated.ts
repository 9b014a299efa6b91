// Tells the page's application that its build isn't the deployed one any more, once that explains the error of a
// call. Part of /svc/rare.js.

import type { Outdated } from "../src/types/client.ts";
import { outdatedEvent } from "../src/base/protocol.ts";
import type { Manifest } from "../src/base/manifest.ts";
import type { Clock } from "../src/base/ports.ts";
import { fetchManifest } from "./fetch-manifest.ts";
import { checkIntervalMs } from "./times.ts";

/** The part of a started page that this file uses. */
export interface PageWithRevision {
  readonly browser: {
    readonly clock: Clock;
    readonly base: string;
    readonly revision: string | undefined;
  };
  readonly revisions: { use<T>(act: (manifest: Manifest) => Promise<T>): Promise<T> };
}

let checked = -Infinity;
let isTold = false;

/**
 * Dispatches `seamline:outdated` on the window, once, if another revision than the page's is
 * deployed.
 */
export async function checkRevision({ browser, revisions }: PageWithRevision): Promise<void> {
  const now = browser.clock.now();
  if (isTold || now - checked < checkIntervalMs) return;
  checked = now;
  const revision = browser.revision ?? (await revisions.use(async (manifest) => manifest.revision));
  // In development pages follow the application.
  if (revision.startsWith("development-")) return;
  const { revision: current } = await fetchManifest(browser.base);
  if (current === revision || isTold) return;
  isTold = true;
  const detail: Outdated = { revision, current };
  globalThis.dispatchEvent(new CustomEvent(outdatedEvent, { detail }));
}
