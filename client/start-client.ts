// startClient (§4.6): makes the page a node of its own, whose remote calls go to its origin.

import type { Client, StartClient } from "../src/client.ts";
import { createLocalNode } from "../src/dispatch.ts";
import { NodeNotAvailable, SegmentNotFound } from "../src/errors.ts";
import type { Manifest } from "../src/manifest.ts";
import type { Graph } from "../src/seam.ts";
import type { Browser } from "./browser.ts";
import { fileOfModule } from "./import-module.ts";
import { createModuleFiles } from "./module-files.ts";
import { createRevisions } from "./revisions.ts";
import type { Page, WayOut } from "./svc/remote.ts";

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
  const node = createLocalNode({
    loader: { manifest: () => revisions.use(async (manifest) => manifest), import: files.import },
    // A page can't carry a context across an await: what a procedure calls gets it by `this`.
    carrier: { run: (_, act) => act(), current: () => undefined },
    clock: browser.clock,
    remote: wayOutOf({ browser, files, revisions }),
  });

  const client: Client = {
    // The page says what the module holds; nothing here could know better.
    import: async <Module>(path: string) => (await revisions.use((manifest) => files.import(fileOfModule(manifest, path)))) as Module,
    observe: (listener) => node.observe(listener),
  };

  // From here on seams wait for what is loading, where before they said that nothing was started.
  graph.bind(node);

  return async (...segments) => {
    const placed = revisions.use(async (manifest, kept) => {
      checkSegments(manifest, segments);
      // What was kept may be gone by now: that must be known before the node goes by it.
      if (kept) await files.preload(bodiesOf(manifest, segments));
      return manifest;
    });
    await node.load(placed, segments);
    return client;
  };
}

/** Fetches the way out of a page from now on; calls wait for it. */
function wayOutOf(page: Page): WayOut {
  let opened: Promise<WayOut> | undefined;
  const open = (): Promise<WayOut> =>
    (opened ??= import("./svc/remote.ts").then(
      ({ createWayOut }) => createWayOut(page),
      (cause: unknown) => {
        opened = undefined;
        throw new NodeNotAvailable("No call can leave this page: /svc/remote.js can't be loaded", { cause });
      },
    ));
  // Whoever calls is told.
  open().catch(() => {});
  return async (call) => await (await open())(call);
}

/** The same words for a segment that is forbidden and for one that isn't there, so that nothing can be learned. */
function checkSegments(manifest: Manifest, segments: readonly string[]): void {
  const refused = segments.find((segment) => !Object.hasOwn(manifest.segments, segment));
  if (refused !== undefined)
    throw new SegmentNotFound(
      `segment '${refused}' is not one that browsers may load (${Object.keys(manifest.segments).join(", ") || "none"}); see clients`,
    );
}

function bodiesOf({ segments, procedures, modules }: Manifest, names: readonly string[]): string[] {
  const entries = names.flatMap((name) => segments[name] ?? []);
  return entries.flatMap(({ procedure }) => modules[procedures[procedure]?.module as string]?.body ?? []);
}
