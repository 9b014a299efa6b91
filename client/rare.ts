// /svc/rare.js: functions that few pages need, kept out of /svc/client.js and /svc/remote.js to keep those small.

export { callWith, runProcedure, withHeaders } from "./options.ts";
export { runChecked } from "../src/runtime/run-checked.ts";
export { fetchFile } from "./fetch-file.ts";
export { checkRevision } from "./outdated.ts";
export { noSuchSegment } from "./no-such-module.ts";
