// An application from its sources: built as a user's would be, then run as gateway, nodes and proxy in memory. What the build reads of
// classes and what run time makes of it are tried together.

import { cpSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

import * as core from "../../src/index.ts";
import type { ModuleNamespace } from "../../src/ports.ts";
import { createGateway } from "../../src/roles/gateway.ts";
import type { ServerModules } from "../../src/roles/load-node.ts";
import { createNode } from "../../src/roles/node.ts";
import { createProxy } from "../../src/roles/proxy.ts";
import type { Role } from "../../src/roles/role.ts";
import { defaultLimits, type Limits } from "../../src/serializer/limits.ts";
import { createFixture, type Files } from "../build/_fixture.ts";
import { TestClock, testHost, TestLog, TestNetwork } from "../_cluster.ts";

export const key = "the-trust-key-of-the-built";

export interface BuiltDeployment {
  readonly network: TestNetwork;
  readonly log: TestLog;
  readonly gateway: Role;
  readonly proxy: Role;
  readonly nodes: Readonly<Record<string, Role>>;
  /** Messages of the build's warnings. */
  readonly warnings: readonly string[];
  /** A module tree of its own, as another node would load it. */
  modules(): ServerModules;
  /** Removes its folder. */
  remove(): void;
}

let count = 0;

/** Builds `files` and starts a node for each segment, `limits` for all. */
export async function deployBuilt(
  files: Files,
  options: { readonly limits?: Limits } = {},
): Promise<BuiltDeployment> {
  const limits = options.limits ?? defaultLimits;
  const name = `seamline core ${count++}`;
  Reflect.set(globalThis, name, core);
  let remove = (): void => {};
  const own = {
    // The runtime of the tests themselves, whichever way a module of the application asks for it.
    "node_modules/seamline/index.js": `const core = globalThis[${JSON.stringify(name)}];\nexport const { ${Object.keys(core).join(", ")} } = core;\n`,
  };
  const fixture = createFixture({ ...files, ...own }, (act) => (remove = act));
  const { warnings, manifest } = await fixture.build();
  // Vitest would transform what it imports itself; these are to run as Node runs them. What CommonJS imports, Node imports.
  writeFileSync(join(fixture.root, "load.cjs"), "module.exports = (url) => import(url);");
  const load = createRequire(import.meta.url)(join(fixture.root, "load.cjs")) as (
    url: string,
  ) => Promise<ModuleNamespace>;
  let trees = 0;
  const modules = (): ServerModules => {
    const tree = join(fixture.root, `tree${trees++}`);
    cpSync(fixture.path("dist/server/modules"), tree, { recursive: true });
    return {
      manifest: async () => fixture.manifest(),
      import: (file) => load(pathToFileURL(join(tree, file)).href),
    };
  };
  const network = new TestNetwork();
  const clock = new TestClock();
  const log = new TestLog();
  const common = { trustKey: key, limits };
  const host = () => testHost(network, clock, log);
  const start = async (url: string, role: Role): Promise<Role> => {
    network.roles.set(url, role);
    await role.start(url);
    return role;
  };
  let ids = 0;
  const gateway = await start(
    "http://gateway",
    createGateway(host(), {
      ...common,
      monitor: 5000,
      lease: 15_000,
      newId: () => `m${++ids}`,
      modules: undefined,
    }),
  );
  const nodes: Record<string, Role> = {};
  for (const segment of Object.keys(manifest.segments))
    nodes[segment] = await start(
      `http://${segment}`,
      createNode(host(), {
        ...common,
        gateway: "http://gateway",
        modules: modules(),
        segments: [segment],
        name: segment,
      }),
    );
  const proxy = await start(
    "http://proxy",
    createProxy(host(), { ...common, calls: "http://gateway", repository: "http://repository" }),
  );
  return {
    network,
    log,
    gateway,
    proxy,
    nodes,
    warnings: warnings.map((one) => one.message),
    modules,
    remove,
  };
}
