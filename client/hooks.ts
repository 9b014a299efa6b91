// /svc/hooks.js: the hooks of the runtime in /svc/client.js, not a second runtime.

export { onStop, runProcedure, startClient, withOptions } from "./client.ts";
