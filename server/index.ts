// `seamline/server`: the exports for a host's main file.

export { createHandler } from "./start/create-handler.ts";
export { startServer } from "./start/start-server.ts";
export type { ModuleImporter } from "./modules/module-importer.ts";
export type { CallerInfo } from "./http/mounted/web-handler.ts";
export type { Handler, HandlerOptions, Server, ServerOptions } from "./start/server.ts";
export type { ServerInfo } from "./start/server-info.ts";
export { defineConfig } from "./config/define-config.ts";
export type { Config, ConfigInput } from "./config/config.ts";
export { Problems, type Problem } from "../src/base/problem.ts";
