// startClient (§4.6): makes the page a node of its own, whose remote calls go to its origin.

import type { Client, StartClient } from "../src/client.ts";
import { emptyContext, isContext } from "../src/context.ts";
import { NodeNotAvailable, SegmentNotFound } from "../src/errors.ts";
import { entryOf, type Manifest } from "../src/manifest.ts";
import { bodiesOf, createPlacement } from "../src/placement.ts";
import type { Graph } from "../src/seam.ts";
import type { Browser } from "./browser.ts";
import { fileOfModule } from "./import-module.ts";
import { createModuleFiles } from "./module-files.ts";
import { createRevisions } from "./revisions.ts";
import type { Page, Remote } from "./svc/remote.ts";

/** `startClient` for the one graph of modules that a page has. */
export function createStartClient(graph: Graph, browser: Browser): StartClient {
  let start: StartClient | undefined;
  return async (...segments) => {
    start ??= openPage(graph, browser);
    return await start(...segments);
  };
}

function openPage(graph: Graph, browser: Browser): StartClient {
  const files = createModuleFiles(browser);
  const revisions = createRevisions(browser, files.add);
  const placement = createPlacement({
    loader: files,
    clock: browser.clock,
    away: (seam) =>
      async function (this: unknown, ...args) {
        return await (await remote()).away(seam).apply(this, args);
      },
  });
  const remote = fetchRemote({ browser, files, revisions, placement });

  const client: Client = {
    import: async <Module>(path: string) =>
      (await revisions.use(async (manifest) => {
        const file = fileOfModule(manifest, path);
        if (file === undefined) throw await (await remote()).noSuchModule(manifest, path);
        return await files.import(file);
        // The page says what the module holds; nothing here could know better.
      })) as Module,
    observe: placement.observe,
  };

  // From here on seams wait for what is loading, where before they said that nothing was started.
  graph.bind({
    attach: placement.attach,
    // A page can't carry a context across an await: what a procedure calls gets it by `this`.
    contextFor: (self) => (isContext(self) ? self : emptyContext()),
    runProcedure: async (...call) => await (await remote()).runProcedure(...call),
  });

  return async (...segments) => {
    const manifest = revisions.use(async (one, kept) => {
      checkSegments(one, segments);
      // What was kept may be gone by now: that must be known before the node goes by it.
      if (kept) await files.preload(bodiesOf(one, segments).keys());
      return one;
    });
    await placement.load(manifest, segments);
    return client;
  };
}

/** Fetches `/svc/remote.js` from now on; what needs it waits for it. */
function fetchRemote(page: Page): () => Promise<Remote> {
  let opened: Promise<Remote> | undefined;
  const open = (): Promise<Remote> =>
    (opened ??= import("./svc/remote.ts").then(
      ({ createPageRemote }) => createPageRemote(page),
      (cause: unknown) => {
        opened = undefined;
        throw new NodeNotAvailable("No call can leave this page: /svc/remote.js can't be loaded", {
          cause,
        });
      },
    ));
  // Whoever needs it is told.
  open().catch(() => {});
  return open;
}

/** The same words for a segment that is forbidden and for one that isn't there, so that nothing can be learned. */
function checkSegments(manifest: Manifest, segments: readonly string[]): void {
  const refused = segments.find((segment) => entryOf(manifest.segments, segment) === undefined);
  if (refused !== undefined)
    throw new SegmentNotFound(
      `segment '${refused}' is not one that browsers may load (${Object.keys(manifest.segments).join(", ") || "none"}); see clients`,
    );
}
