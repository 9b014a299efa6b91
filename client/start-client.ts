// startClient: turns the page into a node whose remote calls go to its origin.

import type { CallOptions, CallWith } from "../src/types/call-options.ts";
import type { Client, ClientOptions, StartClient } from "../src/types/client.ts";
import { innerContext } from "../src/runtime/options-context.ts";
import { emptyContext, isContext } from "../src/base/context.ts";
import { DeadlineExceeded, NodeNotAvailable } from "../src/base/errors.ts";
import { entryOf } from "../src/base/manifest.ts";
import { bodiesOf, createPlacement } from "../src/runtime/placement.ts";
import type { Graph, SeamHost } from "../src/runtime/seam.ts";
import type { Browser } from "./browser.ts";
import { fileOfModule } from "./import-module.ts";
import { createModuleFiles } from "./module-files.ts";
import { createRevisions } from "./revisions.ts";
import type { Page, Rare, Remote } from "./svc/remote.ts";

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
      async function (this: unknown, ...args) {
        // Without a wait if it's there: the arguments are encoded as they are now.
        return await (ready ?? (await page.remote())).away(seam).apply(this, args);
      },
  });
  let rare: Rare | undefined;
  let remote: Promise<Remote> | undefined;
  let ready: Remote | undefined;
  /** A function of `/svc/rare.js`, whose argument `at` may be options. */
  const rarely =
    (name: "callWith" | "runProcedure", at: number): SeamHost["runProcedure"] & CallWith =>
    async (...call: unknown[]) => {
      const began = clock.now();
      const { signal, timeoutMs } = Object(call[at]) as CallOptions & { timeoutMs: number };
      // Nobody has checked the options yet: what isn't one waits for the file, which reports it.
      signal?.throwIfAborted?.();
      // Only the first calls come here, so a signal that lives long keeps few listeners.
      rare ??= await new Promise<Rare>((resolve, reject) => {
        signal?.addEventListener?.("abort", () => reject(signal.reason));
        if (timeoutMs > 0 && timeoutMs < 1e9)
          clock.after(timeoutMs, () => reject(new DeadlineExceeded()));
        loadRare().then(resolve, reject);
      });
      return await (rare[name] as RareCall)(page, began, ...call);
    };
  const page: Page = {
    browser,
    files,
    revisions,
    placement,
    rare: loadRare,
    remote: () =>
      (remote ??= import("./svc/remote.ts")
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
      (await revisions.use(async (manifest) => {
        const file = fileOfModule(manifest, path);
        if (file === undefined) throw (await loadRare()).noSuchModule(manifest, path);
        return await files.import(file);
        // Only the page knows the module's type.
      })) as Module,
    observe: placement.observe,
  };

  // From now on, seams wait for what is loading; before, they reject as nothing has been started.
  graph.bind({
    attach: placement.attach,
    // Pages can't carry a context across an await, so procedures pass it on by `this`.
    contextFor: (self) => (isContext(self) ? innerContext(self) : emptyContext()),
    callWith: rarely("callWith", 1),
    runProcedure: rarely("runProcedure", 3),
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

/** Says which file of the runtime can't be loaded. */
const unavailable =
  (file: string) =>
  (cause: unknown): never => {
    throw new NodeNotAvailable(`Can't load /svc/${file}.js`, { cause });
  };

type RareCall = (page: Page, began: number, ...call: unknown[]) => Promise<unknown>;

const loadRare = async (): Promise<Rare> =>
  await import("./svc/rare.ts").catch(unavailable("rare"));
