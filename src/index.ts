// The public names of the core: what application modules and hosts import from `seamline`.

// Calls and what surrounds them (§2, §4.6)
export type { Args, CallHeaders } from "./call.ts";
export { Context, type MaybeContext } from "./context.ts";
export type { ObservedCall } from "./dispatch.ts";
export type { HealthCheck } from "./health.ts";
export type { Imported, Modules, Procedure, RunProcedure } from "./imported.ts";
export type { Middleware } from "./middleware.ts";
export { CorsMiddleware, type CorsOptions } from "./cors.ts";
export { traceOf } from "./trace.ts";
export { parseVersion, type Version } from "./version.ts";

// Errors (§7)
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
} from "./errors.ts";

// For built modules: the graph in which seams find their node. Not for hand-written code.
export { createGraph, type Graph, type Seam, type SeamHost, type SeamRecord } from "./seam.ts";
