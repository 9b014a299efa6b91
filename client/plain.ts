// /svc/plain.js: functions for pages without a manifest in themselves, mostly pages that weren't built. Kept out of
// /svc/client.js to keep that small.

export { importModule } from "./import-module.ts";
export { createStoredRevisions } from "./stored-revisions.ts";
