// /svc/superjson.js: the encoding for values with cycles. /svc/remote.js loads it on demand.

export * from "../../src/codec/superjson/superjson.ts";
