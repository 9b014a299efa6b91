// Applications with guards, in every arrangement of services, in memory.

import type { ModuleNamespace } from "../src/base/ports.ts";
import type { ServerModules } from "../src/roles/application/application.ts";
import type { Role } from "../src/roles/pipeline/role.ts";
import { type NodeOptions } from "../src/roles/node.ts";
import { TestDeployment, type TestProcedure } from "./_cluster.ts";
import { routeModules, type TestRoute } from "./_routes.ts";

/** Modules with guards, which entries name as `auth#signedIn`. */
export function guardedModules(
  guards: ModuleNamespace,
  procedures: readonly TestProcedure[],
  routes: readonly TestRoute[] = [],
): ServerModules {
  const modules = routeModules(routes, procedures);
  return {
    manifest: async () => {
      const manifest = await modules.manifest();
      return { ...manifest, modules: { ...manifest.modules, auth: { file: "auth.js" } } };
    },
    import: async (file) => (file === "auth.js" ? guards : await modules.import(file)),
  };
}

/** Where callers outside may reach a procedure. */
export const entrances = ["standalone", "node", "gateway", "proxy"] as const;
export type Entrance = (typeof entrances)[number];

/** The services that callers outside reach, each with the same application behind it. */
export interface GuardedSite extends Readonly<Record<Entrance, Role>> {
  readonly local: TestDeployment;
}

/** A standalone, and proxy, gateway and a node of all segments. */
export async function guardedSite(
  modules: () => ServerModules,
  options: Partial<Pick<NodeOptions, "errors" | "limits">> = {},
  local: TestDeployment = new TestDeployment(),
): Promise<GuardedSite> {
  const { segments } = await modules().manifest();
  const standalone = await local.standalone({ modules: modules(), ...options });
  const gateway = await local.gateway(options);
  const own = { modules: modules(), segments: Object.keys(segments) };
  const node = await local.node("a", { ...own, ...options });
  const proxy = await local.proxy(options);
  return { standalone, node, gateway, proxy, local };
}
