// /svc/multipart.js: writes calls with files. /svc/remote.js loads it on demand.

export { writeUpload } from "../../src/codec/multipart/write-multipart.ts";
