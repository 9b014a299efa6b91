// `seamline/server`: what a host's main file needs.

export {
  type ModuleImporter,
  type Server,
  type ServerOptions,
  startServer,
} from "./start-server.ts";
export { runProcedure } from "./process-services.ts";
export { defineConfig } from "./define-config.ts";
export type { Config, ConfigInput } from "./config.ts";
export { Problems, type Problem } from "../src/problem.ts";
