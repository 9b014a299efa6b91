// /svc/multipart.js: writes calls with files. /svc/codec.js loads it on demand.

export { ownFiles, writeUpload } from "../../src/codec/multipart/write-multipart.ts";
