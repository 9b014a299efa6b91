// Errors with which the runtime refuses a call: no such procedure, a missing argument, no
// permission. The caller made the mistake. So if a procedure rethrows such an error of an inner
// call, its own caller gets a 500 instead.

import {
  memoryExhausted,
  MethodNotAllowed,
  NodeNotAvailable,
  ServiceError,
  statusOf,
} from "../base/errors.ts";
import type { IncomingResponse } from "../base/ports.ts";
import { isMarkedRefused, type NotStartedReason } from "./relay-headers.ts";
import { traceOf } from "../base/trace.ts";

const ofProtocol: ReadonlySet<string> = new Set([
  "ProcedureNotFound",
  "SegmentNotFound",
  "FileNotFound",
  "MissingParameterValue",
  "UnknownParameter",
  "InvalidParameterValue",
  "InvalidVersionNumber",
  "InvalidSerializedValue",
  "PayloadTooLarge",
  "UnsupportedEncoding",
  "MethodNotAllowed",
  "NotAcceptable",
  "Unauthorized",
]);

// The class alone isn't enough: an application may throw the same classes.
const ofApplication = new WeakSet<Error>();
const ofInnerCalls = new WeakSet<Error>();

/** Notes that a middleware threw this error. Errors of procedures are known by their trace. */
export function noteApplicationError(error: unknown): void {
  if (error instanceof Error) ofApplication.add(error);
}

/** Notes that another service answered with this error. */
export function noteAnsweredError(
  error: unknown,
  { status, headers: fields }: Pick<IncomingResponse, "status" | "headers">,
): void {
  if (!isMarkedRefused(fields)) noteApplicationError(error);
  // Then an inner call was refused there.
  if (status === 500 && statusOf(error) !== 500) noteInnerRefusal(error);
}

/** Whether the runtime refused a call with this error. Errors of procedures have a trace line. */
export function isRefusal(error: unknown): boolean {
  return (
    error instanceof ServiceError &&
    ofProtocol.has((error.constructor as typeof ServiceError).kind) &&
    !ofApplication.has(error) &&
    traceOf(error).length === 0
  );
}

const notStarted = new WeakMap<Error, NotStartedReason>();

/** The error of a call that this service refuses before it begins: others may take it. */
export function refusedStart(reason: NotStartedReason, message: string): NodeNotAvailable {
  const error = new NodeNotAvailable(message);
  notStarted.set(error, reason);
  return error;
}

/** The reason why this service refused a call with this error before it began, if it did. */
export function refusedStartReason(error: unknown): NotStartedReason | undefined {
  return error instanceof Error ? notStarted.get(error) : undefined;
}

/** The limit of memory held for callers is reached. */
export function noMemory(): NodeNotAvailable {
  return refusedStart("overload", memoryExhausted().message);
}

/** The limit of concurrent calls is reached. */
export function tooManyCalls(): NodeNotAvailable {
  return refusedStart("overload", "This service has as many calls as it can take; try again");
}

/** The limit of open streams is reached. */
export function tooManyOpenStreams(): NodeNotAvailable {
  return refusedStart("overload", "This service has as many streams as it can take; try again");
}

/** Its procedures are still loading, so 404 would be wrong. */
export function isStarting(): NodeNotAvailable {
  return refusedStart("starting", "This service is starting");
}

/** This service stops, and takes no more calls. */
export function isLeaving(): NodeNotAvailable {
  return refusedStart("leaving", "This service is stopping; try again");
}

const allowed = new WeakMap<Error, string>();

/** The error of a call by a method that its procedure doesn't take. */
export function methodNotAllowed(methods: readonly string[], message?: string): MethodNotAllowed {
  const error = new MethodNotAllowed(message);
  allowed.set(error, methods.join(", "));
  return error;
}

/** The `allow` field for this error. An application may throw the same class. */
export function allowedMethods(error: MethodNotAllowed): string {
  return allowed.get(error) ?? "GET, POST";
}

/** Notes that an inner call was refused with this error. */
export function noteInnerRefusal(error: unknown): void {
  if (error instanceof Error) ofInnerCalls.add(error);
}

/** Whether an inner call, here or further on, was refused with this error. */
export function isInnerRefusal(error: unknown): boolean {
  return error instanceof Error && ofInnerCalls.has(error);
}

/** The status of an answer with this error: that of its class, unless it is about an inner call. */
export function answerStatusOf(thrown: unknown): number {
  if (isInnerRefusal(thrown)) return 500;
  const status = statusOf(thrown);
  // An application's class may have any status. An error with 204 or 304 wouldn't be taken for one.
  return Number.isInteger(status) && status >= 400 && status <= 599 ? status : 500;
}
