// /svc/rare.js: what few pages need, kept out of /svc/client.js and /svc/remote.js to keep those small.

export { callWith, runProcedure, withHeaders } from "./options.ts";
export { createStoredRevisions } from "../stored-revisions.ts";
export { fetchFile } from "../fetch-file.ts";
export { checkRevision } from "../outdated.ts";
export { importModule } from "../import-module.ts";
export { noSuchSegment } from "../no-such-module.ts";
