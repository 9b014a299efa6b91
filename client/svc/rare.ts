// /svc/rare.js: what few pages need, kept out of /svc/remote.js to keep that small.

export { callWith, runProcedure, withHeaders } from "./options.ts";
export { fetchFile } from "../fetch-file.ts";
export { noSuchModule, noSuchSegment } from "../no-such-module.ts";
