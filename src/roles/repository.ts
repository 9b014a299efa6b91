// Repository: serves the files of browsers, the modules of nodes, and Seamline's own components.

import type { PublicOrigin } from "../http/public-origin.ts";
import type { Host, HttpRequest, HttpResponse } from "../base/ports.ts";
import {
  answerHeaders,
  browserManifestPath,
  mediaTypes,
  paths,
  serviceHeaders,
} from "../base/protocol.ts";
import { pathOf, queryOf, type Route } from "../http/router.ts";
import { Classes } from "../codec/classes.ts";
import { ServiceLinks } from "./links/service-links.ts";
import { notFound } from "../http/answers.ts";
import { createRole, type Role } from "./pipeline/role.ts";
import { createService, type ServiceOptions } from "./pipeline/service.ts";

/** The build's output and the application's assets, as the host reads them. */
export interface RepositoryFiles {
  /** A public file; `undefined` if it doesn't exist or isn't public. */
  publicFile(request: HttpRequest): Promise<HttpResponse | undefined>;
  /**
   * `/svc/<name>`: Seamline's own components, and the manifest for browsers: that of the build which
   * the request names, if it's served, else the current one.
   */
  component(name: string, request: HttpRequest): Promise<HttpResponse | undefined>;
  /** The bytes of a module of the server's build of this revision [the current], or of the manifest. */
  serverFile(file: string, revision: string | undefined): Promise<Uint8Array | undefined>;
}

/** The revision in a request for a file of a build. */
export function revisionIn({ target }: Pick<HttpRequest, "target">): string | undefined {
  return new URLSearchParams(queryOf(target)).get("revision") ?? undefined;
}

export interface RepositoryOptions extends ServiceOptions {
  readonly files: RepositoryFiles;
}

export function createRepository(host: Host, options: RepositoryOptions): Role {
  const service = createService(host, options);
  return createRole({
    ...service,
    classes: new Classes(),
    endpoints: repositoryEndpoints(options.files, service.web),
    otherwise: (request) => options.files.publicFile(request),
    start: async () => {},
    describe: () => ({}),
    links: new ServiceLinks({ ...options, host, role: "repository" }),
  });
}

/** The endpoints of a repository, for standalone as well. */
export function repositoryEndpoints(
  files: RepositoryFiles,
  { base }: Pick<PublicOrigin, "base">,
): Route[] {
  const text = (parameter: string | string[] | undefined): string =>
    Array.isArray(parameter) ? parameter.join("/") : (parameter ?? "");
  return [
    [
      "GET",
      `${paths.modules}*file`,
      async (request, { holdsKey }, { file }) => {
        // Don't show others that the file exists.
        if (!holdsKey) return notFound();
        const bytes = await files.serverFile(text(file), revisionIn(request));
        if (bytes === undefined) return notFound();
        const type = text(file).endsWith(".json") ? mediaTypes.json : mediaTypes.script;
        return {
          status: 200,
          headers: { "content-type": type, ...answerHeaders },
          body: bytes,
        };
      },
    ],
    [
      "GET",
      `${paths.components}*name`,
      async (request, _, { name }) => {
        const answer = (await files.component(text(name), request)) ?? notFound();
        if (base.path === "" || pathOf(request.target) !== browserManifestPath) return answer;
        return {
          ...answer,
          headers: { ...answer.headers, [serviceHeaders.base]: `${base.path}/` },
        };
      },
    ],
  ];
}
