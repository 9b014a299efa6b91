// `seamline` on Node. In a page the same names come from /svc/client.js.

export * from "../src/index.ts";
export { getContext, withId } from "./host/carrier.ts";
export { onStop } from "./host/stops.ts";
export { runProcedure, withOptions } from "./start/process-services.ts";
