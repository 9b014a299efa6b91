// What /svc/hooks.js is (§4.4): the hooks of the runtime in /svc/client.js, never a second one.

export { runProcedure, startClient } from "./client.ts";
