// startClient: turns the page into a node whose remote calls go to its origin.

import type { CallOptions, CallWith } from "../src/types/call-options.ts";
import type { Client, ClientOptions, StartClient } from "../src/types/client.ts";
import { copiesOf, innerContext } from "../src/runtime/options-context.ts";
import { emptyContext, isContext } from "../src/base/context.ts";
import { DeadlineExceeded } from "../src/base/errors.ts";
import { entryOf } from "../src/base/manifest.ts";
import { type Copies, snapshot } from "../src/codec/values/snapshot.ts";
import { bodiesOf, createPlacement } from "../src/runtime/placement.ts";
import type { Graph, SeamHost } from "../src/runtime/seam.ts";
import { waiting } from "../src/runtime/stream.ts";
import type { Browser } from "./page-parts.ts";
import { loadPlain, loadRare, type Rare } from "./load-rare.ts";
import { unavailable } from "./unavailable.ts";
import { createModuleFiles } from "./module-files.ts";
import { createRevisions } from "./revisions.ts";
import type { Page, Remote } from "./remote.ts";

/** Creates `startClient` for the page's only module graph. */
export function createStartClient(graph: Graph, browser: Browser): StartClient {
  let start: StartClient | undefined;
  return async (...segments) => {
    start ??= openPage(graph, browser);
    return await start(...segments);
  };
}

function openPage(graph: Graph, browser: Browser): StartClient {
  const { clock } = browser;
  const files = createModuleFiles(browser);
  const revisions = createRevisions(browser, files.add);
  const placement = createPlacement({
    loader: files,
    clock,
    away: (seam) =>
      waiting(seam, async function (this: unknown, ...args) {
        const copies = copiesOf(this);
        // A codec that is loaded encodes at once, so no snapshot is needed.
        if (ready === undefined || copies !== undefined) args = snapshot(args, copies);
        return await (ready ?? (await page.remote())).away(seam).apply(this, args);
      }),
  });
  let rare: Rare | undefined;
  let remote: Promise<Remote> | undefined;
  let ready: Remote | undefined;
  /** A function of `/svc/rare.js`: the places of its options and of its values among its arguments. */
  const rarely =
    (
      name: "callWith" | "runProcedure",
      at: number,
      values: number,
    ): SeamHost["runProcedure"] & CallWith =>
    async (...call: unknown[]) => {
      const began = clock.now();
      const { signal, timeoutMs } = Object(call[at]) as CallOptions & { timeoutMs: number };
      // The options aren't checked yet: a wrong signal is reported by the file, once it has loaded.
      signal?.throwIfAborted?.();
      let copies: Copies | undefined;
      if (rare === undefined) {
        copies = new Map();
        snapshot(call[values], copies);
        if (!isContext(call[at])) call[at] = snapshot(call[at], copies);
      }
      // Only the first calls come here, so a signal that lives long keeps few listeners.
      rare ??= await new Promise<Rare>((resolve, reject) => {
        signal?.addEventListener?.("abort", () => reject(signal.reason));
        if (timeoutMs > 0 && timeoutMs < 1e9)
          clock.after(timeoutMs, () => reject(new DeadlineExceeded()));
        loadRare().then(resolve, reject);
      });
      return await (rare[name] as RareCall)(page, began, copies, ...call);
    };
  const page: Page = {
    browser,
    files,
    revisions,
    placement,
    rare: loadRare,
    remote: () =>
      (remote ??= import("./remote.ts")
        .then(({ createPageRemote }) => (ready = createPageRemote(page)))
        .catch((cause: unknown) => {
          remote = undefined;
          return unavailable("remote")(cause);
        })),
  };
  // Starts fetching it. A failure rejects the call that needs the file.
  page.remote().catch(() => {});

  const client: Client = {
    import: async <Module>(path: string) =>
      // Only the page knows the module's type.
      (await (await loadPlain()).importModule(page, path)) as Module,
    observe: placement.observe,
  };

  // From now on, seams wait for code that is loading; before, they reject, as the client isn't started.
  graph.bind({
    attach: placement.attach,
    // Pages can't carry a context across an await, so procedures pass it on by `this`.
    contextFor: (self) => (isContext(self) ? innerContext(self) : emptyContext()),
    callWith: rarely("callWith", 1, 3),
    runProcedure: rarely("runProcedure", 3, 2),
  });

  return async (...names) => {
    const [options] = names as [ClientOptions?];
    const { segments = [], headers } =
      options && typeof options === "object" && !Array.isArray(options)
        ? options
        : { segments: names as string[] };
    page.headers = headers ?? page.headers;
    const loaded = revisions.use(async (manifest, isCached) => {
      for (const name of segments)
        if (entryOf(manifest.segments, name) === undefined)
          throw (await loadRare()).noSuchSegment(manifest, name);
      // Files of a cached revision may be gone: find out before the node uses it.
      if (isCached) await files.preload(bodiesOf(manifest, segments).keys());
      return manifest;
    });
    await placement.load(loaded, segments);
    return client;
  };
}

type RareCall = (
  page: Page,
  began: number,
  copies: Copies | undefined,
  ...call: unknown[]
) => Promise<unknown>;
