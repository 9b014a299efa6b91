// /svc/superjson.js: the encoding for values with cycles. /svc/codec.js loads it on demand.

export * from "../../src/codec/superjson/superjson.ts";
