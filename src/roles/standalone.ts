// Standalone: the whole application in one process, as repository and node at once.

import { createPublicOrigin, type PublicOriginOptions } from "../http/public-origin.ts";
import type { Host } from "../base/ports.ts";
import { Classes } from "../codec/classes.ts";
import type { ErrorVisibility } from "../codec/error-mask.ts";
import type { Limits } from "../base/limits.ts";
import { createCallRunner } from "./run-call.ts";
import type { ServerModules } from "./application.ts";
import { createServerNode, loadSegments } from "./load-node.ts";
import type { Observer } from "./observer.ts";
import { type RepositoryFiles, repositoryRoutes } from "./repository.ts";
import { ServiceLinks } from "./links/service-links.ts";
import { ToldProxies } from "./members/told-proxies.ts";
import { timeLimits } from "./time-limits.ts";
import { createRouteRunner } from "./routes/run-route.ts";
import { MiddlewareChain } from "./middleware-chain.ts";
import { createRefuse } from "./refuse.ts";
import { createRole, type Role } from "./role.ts";
import { createCredentials, type TrustKey } from "../http/trust.ts";

export interface StandaloneOptions {
  readonly trustKey: TrustKey;
  readonly limits: Limits;
  readonly web?: PublicOriginOptions | undefined;
  /** Towards callers who aren't trusted [shown]. */
  readonly errors?: ErrorVisibility | undefined;
  /** `false`: something between services ends TLS [true]. */
  readonly endToEndTls?: boolean | undefined;
  readonly files: RepositoryFiles;
  readonly modules: ServerModules;
  readonly segments: readonly string[] | undefined;
  readonly name: string | undefined;
  readonly observer?: Observer | undefined;
}

export function createStandalone(host: Host, options: StandaloneOptions): Role {
  const { trustKey, limits, endToEndTls, modules, name, errors, observer } = options;
  const credentials = createCredentials(trustKey, host);
  const web = createPublicOrigin(host.log, options.web);
  const classes = new Classes();
  const chain = new MiddlewareChain();
  const refuse = createRefuse({ host, classes, errors });
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
    host,
    role: "standalone",
    trustKey,
    limits,
    proxies,
    endToEndTls,
    handle: (request) => role.handle(request),
  });
  const role = createRole({
    host,
    credentials,
    web,
    limits,
    errors,
    chain,
    refuse,
    call: createCallRunner({ host, node, chain, classes, limits, refuse, name }),
    routes: [...repositoryRoutes(options.files, web), proxies.endpoint],
    application: createRouteRunner(node.routes, { host, chain, name }),
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
    runProcedure: node.runProcedure,
    measured: { knows: (fqn) => node.registry.has(fqn) },
    observed: observer && {
      observer,
      subject: { mode: "standalone", name, node, segments: () => segments },
    },
  });
  return role;
}
