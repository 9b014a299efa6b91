// Standalone: the whole application in one process, as repository and node at once.

import type { Host } from "../base/ports.ts";
import { Classes } from "../codec/classes.ts";
import type { ServerModules } from "./application/application.ts";
import { createServerNode, loadSegments } from "./application/load-node.ts";
import { typesEndpoint } from "./application/types-endpoint.ts";
import { ServiceLinks } from "./links/service-links.ts";
import { ToldProxies } from "./members/told-proxies.ts";
import type { Observer } from "./pipeline/observer.ts";
import { repositoryEndpoints, type RepositoryFiles } from "./repository.ts";
import { createRole, type Role } from "./pipeline/role.ts";
import { createRunner } from "./runs/runner.ts";
import { createService, type ServiceOptions } from "./pipeline/service.ts";
import { timeLimits } from "./application/time-limits.ts";

export interface StandaloneOptions extends ServiceOptions {
  readonly files: RepositoryFiles;
  readonly modules: ServerModules;
  readonly segments: readonly string[] | undefined;
  readonly name: string | undefined;
  readonly observer?: Observer | undefined;
}

export function createStandalone(host: Host, options: StandaloneOptions): Role {
  const { modules, name, observer } = options;
  const service = createService(host, options);
  const classes = new Classes();
  const node = createServerNode(host, modules, undefined);
  const proxies = new ToldProxies({
    host,
    list: () => ({
      routes: node.routes.callable,
      idempotent: node.registry.idempotent(),
      timeouts: timeLimits(node.registry.all()),
    }),
  });
  let segments: readonly string[] = [];
  const links = new ServiceLinks({
    ...options,
    host,
    role: "standalone",
    proxies,
  });
  return createRole({
    ...service,
    classes,
    answer: createRunner({ ...service, node, classes, name }),
    routes: () => node.routes.table,
    endpoints: [
      ...repositoryEndpoints(options.files, service.web),
      proxies.endpoint,
      typesEndpoint(node),
    ],
    otherwise: (request) => options.files.publicFile(request),
    async start() {
      segments = await loadSegments(host, node, classes, options);
      proxies.changed();
    },
    describe: () => ({
      segments,
      procedures: node.registry.size,
      routes: node.routes.callable,
    }),
    links,
    takesPages: true,
    runProcedure: node.runProcedure,
    measured: { knows: (fqn) => node.registry.has(fqn) },
    observed: observer && {
      observer,
      subject: { mode: "standalone", name, node, segments: () => segments },
    },
  });
}
