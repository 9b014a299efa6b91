// The callers of a test cluster that can't be called themselves: the test and the page.

import type { ContextCarrier, Host, ModuleNamespace, Peer } from "../../src/base/ports.ts";
import { noteAnsweredError } from "../../src/http/refusals.ts";
import { createServerNode } from "../../src/roles/application/load-node.ts";
import type { Graph } from "../../src/runtime/seam.ts";
import { createRemote } from "../../src/wire/outgoing/remote-call.ts";
import type { LocalDeployment } from "../local/deployment.ts";
import type { CallRecorder } from "./fakes/calls.ts";
import type { ClusterModules, ModuleGraph } from "./modules.ts";
import { withCookies } from "./page-cookies.ts";
import type { TestCaller, TestPage } from "./test-cluster.ts";

export interface CallerParts {
  readonly name: "test" | "page";
  readonly host: Host;
  /** The way to the gateway. */
  readonly peer: Peer;
  readonly local: LocalDeployment;
  readonly graph: ModuleGraph;
  readonly segments: readonly string[];
  readonly modules: ClusterModules;
  readonly recorder: CallRecorder;
  readonly assertOpen: () => void;
}

/** Only the page uses cookies: no browser keeps those of services. */
export async function createCaller(parts: CallerParts): Promise<TestPage> {
  const cookies = new Map<string, string>();
  const { name, host, peer, local, segments, recorder, assertOpen } = parts;
  const { modules, classes } = parts.graph;
  const { limits } = local.common;
  const base = local.urlOf("gateway");
  const isPage = name === "page";
  const remote = createRemote({
    transport: isPage ? fromPage(withCookies(peer, cookies), base) : peer,
    base,
    ...(!isPage && { from: "service" }),
    classes,
    limits,
    clock: host.clock,
    onError: noteAnsweredError,
  });
  // A page can't carry a context across an await, and a test's own calls have none.
  const carrier: ContextCarrier = {
    run: (_, act) => act(),
    current: () => undefined,
    snapshot: () => (act) => act(),
  };
  const node = createServerNode({ ...host, carrier }, modules, remote);
  const manifest = await modules.manifest();
  const graph = (await modules.import(manifest.graph)) as ModuleNamespace & Graph;
  graph.bind(node);
  await recorder.as(name, async () => await node.load(manifest, segments));
  return {
    cookies,
    import: (async (path: string) => {
      assertOpen();
      return await parts.modules.import(path, modules);
    }) as TestCaller["import"],
    runProcedure: (async (...call) => {
      assertOpen();
      return await node.runProcedure(...call);
    }) as TestCaller["runProcedure"],
  };
}

/** Adds what a browser adds to a page's requests. */
function fromPage(peer: Peer, origin: string): Peer {
  const headers = { origin, "sec-fetch-site": "same-origin", "sec-fetch-mode": "cors" };
  return {
    send: async (request) =>
      await peer.send({ ...request, headers: { ...headers, ...request.headers } }),
  };
}
