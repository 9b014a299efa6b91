// An application from its sources: built as a user's would be, then run as gateway, nodes and proxy
// in memory. So what the build reads of classes is tested together with what run time does with it.

import { cpSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

import { getContext } from "../../server/host/carrier.ts";
import * as index from "../../src/index.ts";
import * as internal from "../../src/internal.ts";
import type { ModuleNamespace } from "../../src/base/ports.ts";
import type { ServerModules } from "../../src/roles/application/application.ts";
import type { Role } from "../../src/roles/pipeline/role.ts";
import { defaultLimits, type Limits } from "../../src/base/limits.ts";
import { createFixture, type Files } from "../build/_fixture.ts";
import { TestDeployment, type TestLog, type TestNetwork } from "../_cluster.ts";

// The package and what generated code imports, as one module.
const core = { ...index, ...internal, getContext };

export const key = "the-trust-key-of-the-built";

export interface BuiltDeployment {
  readonly network: TestNetwork;
  readonly log: TestLog;
  readonly gateway: Role;
  readonly proxy: Role;
  readonly nodes: Readonly<Record<string, Role>>;
  /** Messages of the build's warnings. */
  readonly warnings: readonly string[];
  /** Another copy of the modules, as another node would load them. */
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
  const runtime = {
    // The runtime of the tests, however a module of the application imports it.
    "node_modules/seamline/index.js": `const core = globalThis[${JSON.stringify(name)}];\nexport const { ${Object.keys(core).join(", ")} } = core;\n`,
  };
  const fixture = createFixture({ ...files, ...runtime }, (act) => (remove = act));
  const { warnings, manifest } = await fixture.build();
  // Vitest would transform modules that it imports itself. What CommonJS imports, Node imports.
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
  const local = new TestDeployment({ trustKey: key, limits });
  const { network, log } = local;
  const gateway = await local.gateway();
  const nodes: Record<string, Role> = {};
  for (const segment of Object.keys(manifest.segments))
    nodes[segment] = await local.node(segment, { modules: modules(), segments: [segment] });
  const proxy = await local.proxy();
  return {
    network,
    log,
    gateway,
    proxy,
    nodes,
    warnings: warnings.map((warning) => warning.message),
    modules,
    remove,
  };
}
