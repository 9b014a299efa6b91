// How the places of a test cluster are put together from the same roles that a deployment has.

import type { ProcedureRecord } from "../../src/manifest.ts";
import { procedureNotFound } from "../../src/registry.ts";
import { fakeModules } from "../../src/roles/fake-modules.ts";
import { createGateway } from "../../src/roles/gateway.ts";
import { createServerNode, type ServerModules } from "../../src/roles/load-node.ts";
import { createNode } from "../../src/roles/node.ts";
import type { ModuleNamespace, Transport } from "../../src/ports.ts";
import type { Graph } from "../../src/seam.ts";
import type { Limits } from "../../src/serializer/limits.ts";
import { createRemote } from "../../src/wire/remote-call.ts";
import { noteAnsweredError } from "../../src/refusals.ts";
import { createCredentials } from "../../src/trust.ts";
import type { OwnImporter, TestApplication } from "./application.ts";
import type { FakeRegistry } from "./fakes.ts";
import { instrumented } from "./instrumented.ts";
import {
  hostOf,
  importModule,
  Node,
  Service,
  type Surroundings,
  type TestCaller,
  urlOf,
} from "./places.ts";
import { RealmClasses } from "./realm.ts";

export interface Composing {
  readonly application: TestApplication;
  readonly surroundings: Surroundings;
  readonly fakes: FakeRegistry;
  readonly limits: Limits;
  readonly trustKey: string;
  readonly own: OwnImporter | undefined;
  /** The modules and classes of the test itself, made when they are first wanted. */
  realm?: Realm;
}

interface Realm {
  readonly modules: ServerModules;
  readonly classes: RealmClasses;
}

// Those of a deployment (decisions §6).
const monitor = 5000;
const lease = 15_000;

const gatewayUrl: string = urlOf("gateway");

export function createGatewayService(composing: Composing): Service {
  const { surroundings, limits, trustKey } = composing;
  let members = 0;
  const newId = (): string => `m${++members}`;
  return new Service({
    name: "gateway",
    surroundings,
    compose: (host) =>
      createGateway(host, {
        trustKey,
        limits,
        monitor,
        lease,
        newId,
        modules: modulesOf(composing, "server"),
      }),
  });
}

export function createNodeService(
  composing: Composing,
  name: string,
  segments: readonly string[],
): Node {
  const { surroundings, limits, trustKey } = composing;
  let modules: ServerModules;
  return new Node({
    name,
    surroundings,
    segments,
    modules: () => modules,
    compose(host) {
      modules = placeModules(composing, "server", name, segments).modules;
      return createNode(host, { trustKey, limits, gateway: gatewayUrl, modules, segments, name });
    },
  });
}

let fakeNodes = 0;

/** A node that holds nothing but fakes of procedures that no other node has. */
export function createFakeNode(composing: Composing, records: readonly ProcedureRecord[]): Service {
  const { application, surroundings, fakes, limits, trustKey } = composing;
  const manifest = application.manifests.server;
  const realm = realmOf(composing);
  const modules = fakeModules({
    manifest,
    fakeOf: (record) =>
      !records.includes(record)
        ? undefined
        : async function (...args) {
            const fake = fakes.take(record);
            if (fake === undefined) throw procedureNotFound(record.fqn, record.version);
            const { fqn, version } = record;
            return await surroundings.recorder.record(
              { fqn, version, where: "fakes", args, faked: true },
              fake as never,
              this,
            );
          },
    import: realm.modules.import,
  });
  const segments = Object.keys(manifest.segments);
  return new Service({
    name: `fakes-${++fakeNodes}`,
    surroundings,
    compose: (host) =>
      createNode(host, { trustKey, limits, gateway: gatewayUrl, modules, segments, name: "fakes" }),
  });
}

/** A place that calls and cannot be called: the test, or a page. */
export async function createCaller(
  composing: Composing,
  {
    name,
    segments,
    trusted,
  }: {
    readonly name: "test" | "page";
    readonly segments: readonly string[];
    readonly trusted: boolean;
  },
): Promise<TestCaller> {
  const { surroundings, limits } = composing;
  const host = hostOf(name, surroundings);
  const { modules, classes } = trusted
    ? realmOf(composing)
    : placeModules(composing, "browser", name, segments);
  const transport = trusted ? host.transport : fromPage(host.transport);
  const credential = createCredentials(trusted ? composing.trustKey : undefined, host).fields(
    "service",
  );
  const remote = createRemote({
    transport,
    base: gatewayUrl,
    credential,
    classes,
    limits,
    clock: host.clock,
    onError: noteAnsweredError,
  });
  // A page can't carry a context across an await; nor is there one around what a test calls.
  const carrier = { run: <T>(_: unknown, act: () => T): T => act(), current: () => undefined };
  const node = createServerNode({ ...host, carrier }, modules, remote);
  const manifest = await modules.manifest();
  const graph = (await modules.import(manifest.graph)) as ModuleNamespace & Graph;
  graph.bind(node);
  await surroundings.recorder.as(name, async () => await node.load(manifest, segments));
  return {
    import: (async (path: string) => {
      surroundings.alive();
      return await importModule(path, modules, surroundings.sources);
    }) as TestCaller["import"],
    runProcedure: (async (...call) => {
      surroundings.alive();
      return await node.runProcedure(...call);
    }) as TestCaller["runProcedure"],
  };
}

/** What a browser adds to the requests of a page. */
function fromPage(transport: Transport): Transport {
  const own = { origin: gatewayUrl, "sec-fetch-site": "same-origin", "sec-fetch-mode": "cors" };
  return {
    send: async (request) =>
      await transport.send({ ...request, headers: { ...own, ...request.headers } }),
    close: transport.close,
  };
}

function placeModules(
  composing: Composing,
  side: "browser" | "server",
  where: string,
  segments: readonly string[],
): Realm {
  const { application, surroundings, fakes } = composing;
  const { recorder, log } = surroundings;
  const test = realmOf(composing).classes;
  // A page is what the test looks at: it has the test's classes.
  const modules = modulesOf(composing, side, side === "browser" ? composing.own : undefined);
  const here = new RealmClasses(modules, application.manifests[side], log);
  return {
    modules: instrumented(modules, { where, segments, fakes, recorder, classes: { here, test } }),
    classes: here,
  };
}

function realmOf(composing: Composing): Realm {
  if (composing.realm === undefined) {
    const modules = modulesOf(composing, "server", composing.own);
    composing.realm = {
      modules,
      classes: new RealmClasses(
        modules,
        composing.application.manifests.server,
        composing.surroundings.log,
      ),
    };
  }
  return composing.realm;
}

/** A graph of its own; a clock that stands waits for what is being loaded. */
function modulesOf(
  { application, surroundings: { clock } }: Composing,
  side: "browser" | "server",
  own?: OwnImporter,
): ServerModules {
  const modules = application.modules(side, own);
  return { ...modules, import: async (file) => await clock.track(modules.import(file)) };
}
