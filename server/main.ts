// `seamline` on Node: hooks, errors and types. In a page the same names come from /svc/client.js.

import type { Client } from "../src/client.ts";

export * from "../src/index.ts";
export { runProcedure } from "./process-services.ts";
export { defineConfig } from "./define-config.ts";
export type { ConfigInput } from "./config-types.ts";
export type { Client, StartClient } from "../src/client.ts";
export type { ModuleImporter, Server, ServerOptions } from "./start-server.ts";

import type { ModuleImporter, Server, ServerOptions } from "./start-server.ts";

/** Starts the service that the configuration names (§4.6). */
export async function startServer(
  moduleImporter: ModuleImporter,
  options?: ServerOptions,
): Promise<Server> {
  // Application modules import errors from here: they must not pay for a whole server.
  return await (await import("./start-server.ts")).startServer(moduleImporter, options);
}

/** Starts a node in a browser (§4.6); on a server there is none. */
export async function startClient(..._segments: string[]): Promise<Client> {
  throw new Error(
    "startClient runs in a page: import it from 'seamline/client' there. On a server, use startServer",
  );
}
