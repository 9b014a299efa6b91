// What /svc/superjson.js is: the second encoding (decisions §3). /svc/remote.js fetches it when a value first has a cycle.

export * from "../../src/serializer/superjson.ts";
