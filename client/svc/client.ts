// What /svc/client.js is: the one runtime of a page, for bundled pages, plain pages and application modules alike
// (the browser's build leaves `seamline`, `seamline/client` and the graph of modules as imports of this URL).

import { createGraph, type Graph } from "../../src/seam.ts";
import { browser } from "../browser.ts";
import type { StartClient } from "../../src/client.ts";
import type { RunProcedure } from "../../src/imported.ts";
import { createStartClient } from "../start-client.ts";

const graph: Graph = createGraph();

/** §4.6: makes the page a node that runs the procedures of the named segments; the others run where its origin sends them. */
export const startClient: StartClient = createStartClient(graph, browser);

/** §4.6: calls a procedure by name, here if this page holds it, else on the node that does. */
export const runProcedure: RunProcedure = graph.runProcedure as RunProcedure;

// For generated code: faces and bodies of the application's modules.
/** @internal */
export const seam: Graph["seam"] = graph.seam;
/** @internal */
export const traced: Graph["traced"] = graph.traced;
/** @internal */
export const context: Graph["context"] = graph.context;

export {
  BadGateway,
  BadRequest,
  DeadlineExceeded,
  FileNotFound,
  Forbidden,
  InvalidParameterValue,
  InvalidSerializedValue,
  InvalidVersionNumber,
  LoopDetected,
  MethodNotAllowed,
  MiddlewareNotCompleted,
  MisdirectedRequest,
  MissingParameterValue,
  NodeNotAvailable,
  NotFound,
  NotImplemented,
  PayloadTooLarge,
  PaymentRequired,
  ProcedureNotFound,
  RequestHeaderFieldsTooLarge,
  RequestTimeout,
  SegmentNotFound,
  ServiceError,
  statusOf,
  Teapot,
  Unauthorized,
  UnknownParameter,
  UnsupportedEncoding,
  ValueNotSerializable,
} from "../../src/errors.ts";
export { traceOf } from "../../src/trace.ts";
export { parseVersion } from "../../src/version.ts";

// For /svc/remote.js, which shares them.
export { Context, emptyContext, isContext, type MaybeContext } from "../../src/context.ts";
export { frameworkErrors } from "../../src/errors.ts";
export { errorOf, ranOn, setRanOn, setTrace } from "../../src/trace.ts";

export type { ObservedCall } from "../../src/placement.ts";
export type { Client, StartClient } from "../../src/client.ts";
export type { Imported, Modules, Procedure, RunProcedure } from "../../src/imported.ts";
export type { Version } from "../../src/version.ts";
