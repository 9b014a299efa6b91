// The public names of `seamline` that are the same on every host.

import { createChecked } from "./runtime/checked.ts";
import { runChecked } from "./runtime/run-checked.ts";
import type { Checked } from "./types/standard-schema.ts";

/**
 * Checks a procedure's first argument by a schema of zod, valibot, arktype or any other library with the
 * Standard Schema interface: `export const order = checked(schema, async (order) => …)`.
 */
export const checked: Checked = createChecked(() => ({ runChecked }));

export type { Args, CallHeaders } from "./base/call.ts";
export type {
  CallResponse,
  CookieOptions,
  Locals,
  OuterRequest,
  RequestCookies,
  ResponseCookies,
  ResponseHeaders,
} from "./base/call-scope.ts";
export { Context, type MaybeContext } from "./base/context.ts";
export type { HealthCheck } from "./http/health.ts";
export type { CallOptions, OptionHeaders, WithOptions } from "./types/call-options.ts";
export type { Procedure, RunProcedure } from "./types/imported.ts";
export type { Middleware, OpaqueStream as Stream } from "./http/middleware.ts";
export { CorsMiddleware, type CorsOptions } from "./http/cors.ts";
export type { Checked, StandardSchema } from "./types/standard-schema.ts";
export { traceOf } from "./base/trace.ts";
export { parseVersion, type Version } from "./base/version.ts";

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
  NotAcceptable,
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
  TooManyStreams,
  Unauthorized,
  UnknownParameter,
  UnsupportedEncoding,
  ValueNotSerializable,
} from "./base/errors.ts";
