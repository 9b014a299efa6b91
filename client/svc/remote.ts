// What /svc/remote.js is: the way out of a page, with every form that values take on it, and what is rarely asked for.
// Beside /svc/client.js, so that what starts a page is small; the two come at the same time, and only the first call
// away waits for this one.

import { type Calls, createCalls } from "../../src/dispatch.ts";
import { NodeNotAvailable } from "../../src/errors.ts";
import type { Manifest } from "../../src/manifest.ts";
import type { Placement } from "../../src/placement.ts";
import { ClassTable } from "../../src/serializer/class-table.ts";
import { defaultTime } from "../../src/serializer/limits.ts";
import { createRemote } from "../../src/wire/remote-call.ts";
import type { Browser } from "../browser.ts";
import { fetchTransport } from "../fetch-transport.ts";
import type { ModuleFiles } from "../module-files.ts";
import type { Revisions } from "../revisions.ts";
import type { noSuchModule } from "./rare.ts";

/** What a started page has. */
export interface Page {
  readonly browser: Browser;
  readonly files: ModuleFiles;
  readonly revisions: Revisions;
  readonly placement: Placement;
}

/** What a page does with this file. */
export interface Remote extends Pick<Calls, "away" | "runProcedure"> {
  /** What to throw; fetched when it is asked for. */
  readonly noSuchModule: (...about: Parameters<typeof noSuchModule>) => Promise<Error>;
}

/** Calls to the page's origin (§4.6). */
export function createPageRemote({ browser, files, revisions, placement }: Page): Remote {
  const { clock, origin } = browser;
  const classes = new ClassTable();
  const loadClasses = async (manifest: Manifest): Promise<void> => {
    await Promise.all(
      manifest.classes.map(async (record) => {
        // Where a class is recorded, its module is: no name is looked up here that might not be there.
        const { [record.module]: module } = manifest.modules;
        classes.register(record, (await files.import(module?.file as string))[record.export]);
      }),
    );
  };
  let loaded: Promise<void> | undefined;
  // When a value first needs a class, and once.
  classes.load = () =>
    (loaded ??= revisions.use(loadClasses).then(
      () => (classes.load = undefined),
      (cause: unknown) => {
        loaded = undefined;
        throw new NodeNotAvailable("The classes that a value needs can't be loaded", { cause });
      },
    ));
  const remote = createRemote({
    transport: fetchTransport,
    base: origin,
    classes,
    limits: { time: defaultTime },
    clock,
  });
  const rare = (): Promise<typeof import("./rare.ts")> => import("./rare.ts");
  return {
    ...createCalls({
      placement,
      carrier: { run: (_, act) => act(), current: () => undefined },
      clock,
      remote,
      bind: async (parameters) => (await rare()).bindArguments(parameters),
    }),
    noSuchModule: async (...about) => (await rare()).noSuchModule(...about),
  };
}
