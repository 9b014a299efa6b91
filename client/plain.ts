// /svc/plain.js: what pages need that have no manifest in themselves, mostly those that no build made. Kept
// out of /svc/client.js to keep that small.

export { importModule } from "./import-module.ts";
export { createStoredRevisions } from "./stored-revisions.ts";
