// /svc/remote.js: a page's outbound calls and the serializer. Kept out of /svc/client.js so that
// pages start fast: both load at the same time, and only the first remote call waits for this one.

import { type Away, createAway } from "../../src/runtime/calls.ts";
import { NodeNotAvailable } from "../../src/base/errors.ts";
import type { Manifest } from "../../src/base/manifest.ts";
import type { Placement } from "../../src/runtime/placement.ts";
import { ClassTable } from "../../src/codec/class-table.ts";
import { defaultTime } from "../../src/codec/values/limits.ts";
import { createRemote } from "../../src/wire/remote-call.ts";
import type { Browser } from "../browser.ts";
import { fetchTransport } from "../fetch-transport.ts";
import type { ModuleFiles } from "../module-files.ts";
import type { Revisions } from "../revisions.ts";
import type { SendCall } from "../../src/types/outgoing-call.ts";
import type { PageHeaders } from "../../src/types/client.ts";

/** The parts of a started page. */
export interface Page {
  readonly browser: Browser;
  readonly files: ModuleFiles;
  readonly revisions: Revisions;
  readonly placement: Placement;
  /** What the application sets for each call that leaves the page. */
  headers?: PageHeaders | undefined;
  /** Waits for `/svc/remote.js`. */
  readonly remote: () => Promise<Remote>;
  /** Loads `/svc/rare.js`. */
  readonly rare: () => Promise<Rare>;
}

/** What few pages need. */
export type Rare = typeof import("./rare.ts");

/** The page's interface to this file. */
export type Remote = Away;

/** Calls to the page's origin. */
export function createPageRemote(page: Page): Remote {
  const { files, revisions, placement } = page;
  const { clock, origin } = page.browser;
  const classes = new ClassTable();
  const loadClasses = async (manifest: Manifest): Promise<void> => {
    await Promise.all(
      manifest.classes.map(async (record) => {
        // A manifest that records a class also has its module.
        const { [record.module]: module } = manifest.modules;
        classes.register(record, (await files.import(module?.file as string))[record.export]);
      }),
    );
  };
  let loaded: Promise<void> | undefined;
  // Runs once, when a value first needs a class.
  classes.load = () =>
    (loaded ??= revisions.use(loadClasses).then(
      () => (classes.load = undefined),
      (cause: unknown) => {
        loaded = undefined;
        throw new NodeNotAvailable("Can't load classes", { cause });
      },
    ));
  const send = createRemote({
    transport: fetchTransport,
    base: origin,
    classes,
    limits: { callTimeoutMs: defaultTime },
    clock,
    // Calls with headers come from /svc/rare.js, which has chosen them.
    sentHeaders: ({ headers }) => headers,
  });
  const remote: SendCall = async (call) =>
    await send(
      page.headers || call.context.headers.size > 0
        ? await (await page.rare()).withHeaders(page, call)
        : call,
    );
  return createAway({ placement, carrier: { current: () => undefined }, clock, remote });
}
