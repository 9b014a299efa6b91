// Repository: serves what browsers load, what nodes load, and Seamline's own components.

import { createPublicOrigin, type PublicOriginOptions } from "../http/public-origin.ts";
import type { Host, HttpRequest, HttpResponse } from "../base/ports.ts";
import { answerHeaders, mediaTypes, paths } from "../base/protocol.ts";
import type { Route } from "../http/router.ts";
import { Classes } from "../codec/classes.ts";
import type { ErrorVisibility } from "../codec/error-mask.ts";
import type { Limits } from "../codec/values/limits.ts";
import { createCredentials, type Credentials } from "../http/trust.ts";
import { createMiddlewareChain, createRole, notFound, type Role } from "./role.ts";

/** The build's output and the application's assets, as the host reads them. */
export interface RepositoryFiles {
  /** A public file; `undefined` if it doesn't exist or isn't public. */
  publicFile(request: HttpRequest): Promise<HttpResponse | undefined>;
  /** `/svc/<name>`: the manifest for browsers and Seamline's own components. */
  component(name: string, request: HttpRequest): Promise<HttpResponse | undefined>;
  /** The bytes of a module of the server's build, or of its manifest. */
  serverFile(file: string): Promise<Uint8Array | undefined>;
}

export interface RepositoryOptions {
  readonly trustKey: string | undefined;
  readonly limits: Limits;
  readonly web?: PublicOriginOptions | undefined;
  /** Towards callers who aren't trusted [shown]. */
  readonly errors?: ErrorVisibility | undefined;
  readonly files: RepositoryFiles;
}

export function createRepository(host: Host, options: RepositoryOptions): Role {
  const credentials = createCredentials(options.trustKey, host);
  return createRole({
    host,
    credentials,
    web: createPublicOrigin(host.log, options.web),
    limits: options.limits,
    classes: new Classes(),
    errors: options.errors,
    chain: createMiddlewareChain(),
    routes: repositoryRoutes(options.files, credentials),
    otherwise: (request) => options.files.publicFile(request),
    start: async () => {},
    describe: () => ({}),
  });
}

/** The endpoints of a repository, for standalone as well. */
export function repositoryRoutes(files: RepositoryFiles, credentials: Credentials): Route[] {
  const text = (parameter: string | string[] | undefined): string =>
    Array.isArray(parameter) ? parameter.join("/") : (parameter ?? "");
  return [
    [
      "GET",
      `${paths.modules}*file`,
      async (request, { file }) => {
        // Don't show others that the file exists.
        if (!credentials.of(request.headers).holdsKey) return notFound();
        const bytes = await files.serverFile(text(file));
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
      async (request, { name }) => (await files.component(text(name), request)) ?? notFound(),
    ],
  ];
}
