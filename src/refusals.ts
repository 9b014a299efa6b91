// Calls that the protocol refuses: there is no such procedure, an argument is missing, the caller may not. Whoever made the call made the mistake.
// So when a procedure lets such an error of an inner call out, its own caller must not be told that the mistake was theirs.

import { ServiceError, statusOf } from "./errors.ts";
import type { IncomingResponse } from "./ports.ts";
import { serviceHeaders } from "./protocol.ts";
import { traceOf } from "./trace.ts";

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
  "Unauthorized",
]);

// The class alone doesn't tell: an application may throw the same ones.
const ofApplication = new WeakSet<Error>();
const ofInnerCalls = new WeakSet<Error>();

/** The application threw this error, in a middleware: what procedures throw is known by its trace. */
export function noteApplicationError(error: unknown): void {
  if (error instanceof Error) ofApplication.add(error);
}

/** Another service answered with this error. */
export function noteAnsweredError(
  error: unknown,
  { status, headers: fields }: Pick<IncomingResponse, "status" | "headers">,
): void {
  if (fields[serviceHeaders.refused] !== "yes") noteApplicationError(error);
  // Its own inner call was refused.
  if (status === 500 && statusOf(error) !== 500) noteInnerRefusal(error);
}

/** Whether the runtime refused a call with this error. What a procedure throws has the procedure's trace line. */
export function isRefusal(error: unknown): boolean {
  return (
    error instanceof ServiceError &&
    ofProtocol.has((error.constructor as typeof ServiceError).kind) &&
    !ofApplication.has(error) &&
    traceOf(error).length === 0
  );
}

/** A call that a procedure made was refused with this error. */
export function noteInnerRefusal(error: unknown): void {
  if (error instanceof Error) ofInnerCalls.add(error);
}

/** Whether a call was refused with this error that a procedure here, or further on, had made. */
export function isInnerRefusal(error: unknown): boolean {
  return error instanceof Error && ofInnerCalls.has(error);
}

/** The status of the answer that carries what was thrown: that of its class, unless the error is about another call. */
export function answerStatusOf(thrown: unknown): number {
  return isInnerRefusal(thrown) ? 500 : statusOf(thrown);
}
