// Standalone: the whole application in one process, as repository and node at once.

import { createPublicOrigin, type PublicOriginOptions } from "../public-origin.ts";
import type { Console } from "../console/console.ts";
import { ownSource } from "../console/manifest-source.ts";
import type { Host } from "../ports.ts";
import { Classes } from "../serializer/classes.ts";
import type { Limits } from "../serializer/limits.ts";
import { createCallHere } from "./call-here.ts";
import { createServerNode, loadSegments, type ServerModules } from "./load-node.ts";
import { type RepositoryFiles, repositoryRoutes } from "./repository.ts";
import { createLayers, createRole, type Role } from "./role.ts";
import { createCredentials } from "../trust.ts";

export interface StandaloneOptions {
  readonly trustKey: string | undefined;
  readonly limits: Limits;
  readonly web?: PublicOriginOptions | undefined;
  readonly files: RepositoryFiles;
  readonly modules: ServerModules;
  readonly segments: readonly string[] | undefined;
  readonly name: string | undefined;
  /** Shows this service to people (docs/guide/console.md). */
  readonly console?: Console | undefined;
}

export function createStandalone(host: Host, options: StandaloneOptions): Role {
  const { limits, modules, console: view } = options;
  const credentials = createCredentials(options.trustKey, host);
  const classes = new Classes();
  const layers = createLayers();
  const node = createServerNode(host, modules, undefined);
  let segments: readonly string[] = [];
  return createRole({
    host,
    credentials,
    web: createPublicOrigin(host.log, options.web),
    limits,
    classes,
    layers,
    call: createCallHere({ host, node, layers, classes, limits, name: options.name }),
    routes: repositoryRoutes(options.files, credentials),
    otherwise: (request) => options.files.publicFile(request),
    async start() {
      segments = await loadSegments(host, node, classes, options);
    },
    stop: async () => {},
    describe: () => ({ segments, procedures: node.registry.all().length }),
    runProcedure: node.runProcedure,
    console: view && { console: view, source: ownSource(node, options.name, () => segments) },
  });
}
