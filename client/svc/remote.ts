// What /svc/remote.js is: the way out of a page, with every form that values take on it. Beside /svc/client.js, so that
// what starts a page is small; the two come at the same time, and only the first call away waits for this one.

import type { Manifest } from "../../src/manifest.ts";
import { Classes } from "../../src/serializer/classes.ts";
import { defaultLimits } from "../../src/serializer/limits.ts";
import { type Answer, createRemote, type OutgoingCall } from "../../src/wire/remote-call.ts";
import type { Browser } from "../browser.ts";
import { fetchTransport } from "../fetch-transport.ts";
import type { ModuleFiles } from "../module-files.ts";
import type { Revisions } from "../revisions.ts";

/** What a started page has. */
export interface Page {
  readonly browser: Browser;
  readonly files: ModuleFiles;
  readonly revisions: Revisions;
}

export type WayOut = (call: OutgoingCall) => Promise<Answer>;

/** Calls to the page's origin (§4.6). The application's classes are fetched when a value first needs one, and once. */
export function createWayOut({ browser, files, revisions }: Page): WayOut {
  const classes = new Classes();
  let loaded: Promise<void> | undefined;
  classes.load = () =>
    (loaded ??= revisions.use(loadClasses).catch((error: unknown) => {
      loaded = undefined;
      throw error;
    }));
  const loadClasses = async (manifest: Manifest): Promise<void> => {
    await Promise.all(
      manifest.classes.map(async (record) => {
        const module = await files.import(manifest.modules[record.module]?.file as string);
        classes.register(record, module[record.export]);
      }),
    );
  };
  return createRemote({ transport: fetchTransport, base: browser.origin, classes, limits: defaultLimits, clock: browser.clock });
}
