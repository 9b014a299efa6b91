// Turns errors into answers, in all roles. Logs the details that the caller doesn't get.

import { NodeNotAvailable, ServiceError, ValueNotSerializable } from "../../base/errors.ts";
import type { Host, HttpRequest, HttpResponse } from "../../base/ports.ts";
import type { LogFields } from "../../base/ports/telemetry.ts";
import { headers, rpcPath, serviceHeaders } from "../../base/protocol.ts";
import { linesOf } from "../../base/call-trace.ts";
import { ofForeignError } from "../../base/foreign-error.ts";
import { errorOf, passed } from "../../base/trace.ts";
import { withoutVersion } from "../../base/version.ts";
import type { Classes } from "../../codec/classes.ts";
import { attempt } from "../../codec/values/fault.ts";
import { ErrorMask, type ErrorVisibility } from "../../codec/error-mask.ts";
import { HiddenErrors } from "../../codec/hidden-errors.ts";
import { isInnerRefusal, isRefusal, refusedStartReason } from "../../http/refusals.ts";
import { isMasked, notStartedHeader, refusedHeader } from "../../http/relay-headers.ts";
import { requestIdOf } from "../../http/tracing/request-ids.ts";
import { traceIdOf } from "../../http/tracing/trace-context.ts";
import { decodeSegment, pathOf } from "../../http/router.ts";
import type { Trust } from "../../http/trust.ts";
import { encodeError } from "../../wire/encode-error.ts";
import type { MatchedRoute } from "../../runtime/routes.ts";
import { type AnswerEncoding, answerEncoding } from "../../wire/encoding.ts";
import { withHeaders } from "../../http/answers.ts";

/** A call that failed with an error whose details the caller doesn't get. */
export interface FailedCall {
  readonly fqn: string;
  readonly error: unknown;
}

export interface RefuseParts {
  readonly host: Host;
  readonly classes: Classes;
  /** In development: sends stacks to all callers, not only to trusted ones, and masks nothing. */
  readonly stacks?: boolean | undefined;
  /** Errors in answers to untrusted callers [shown]. */
  readonly errors?: ErrorVisibility | undefined;
  /** Receives errors of calls, instead of the log, unless they are meant for the caller. */
  readonly onFailedCall?: ((failure: FailedCall) => void) | undefined;
}

/** The subject of an error: an exchange, or a request that didn't become one. */
export interface Refused {
  readonly request: HttpRequest;
  readonly trust: Trust;
  readonly encoding: AnswerEncoding;
  /** The request is for a file or an endpoint of the runtime. */
  readonly isOther?: true;
  readonly route?: MatchedRoute | undefined;
}

/** The response for a thrown error [in the form that its caller asks for]. Trusted callers get stacks in answers to calls. */
export type Refuse = (
  thrown: unknown,
  refused: Refused,
  encoding?: AnswerEncoding,
) => Promise<HttpResponse>;

/**
 * The challenge of the runtime's own 401: not an HTTP scheme, but the field that takes the key. Errors of the
 * application, which has its own way of signing in, don't have it.
 */
const keyChallenge = { "www-authenticate": serviceHeaders.trustKey } as const;

const hiddenErrors = new WeakMap<HttpRequest, Error>();

/** The error that this service hid, wholly or in part, from the request's caller. */
export function hiddenError(request: HttpRequest): Error | undefined {
  return hiddenErrors.get(request);
}

export function createRefuse(parts: RefuseParts): Refuse {
  const { host, classes, stacks = false, errors, onFailedCall } = parts;
  const masks = errors === "masked";

  const report = (
    refused: Refused,
    thrown: unknown,
    mask: ErrorMask | undefined,
    hidden: HiddenErrors | undefined,
  ): void => {
    const { request } = refused;
    const path = pathOf(request.target);
    const failed = `${request.method} ${path} failed`;
    if (hidden?.some === true) {
      const masked = `${failed}: ${hidden.text}`;
      host.log.error([masked, ...readTrace(thrown, refused)].join(" "), thrown, aboutOf(request));
      // The error's fields have these, so no chain of causes leads to them.
      for (const error of hidden.beside(thrown))
        host.log.error(`${masked} in a field of the error`, error, aboutOf(request));
    } else if (isForCaller(thrown)) return;
    else if (onFailedCall !== undefined && path.startsWith(rpcPath))
      onFailedCall({ fqn: procedureOf(path), error: thrown });
    // Otherwise the service that masked it has logged it.
    else if (mask === undefined || !mask.hides(errorOf(thrown)))
      host.log.error(failed, thrown, aboutOf(request));
  };

  return async (given, refused, encoding = encodingFor(refused)) => {
    const { request } = refused;
    const raw = attempt(() => ofForeignError(given)) ?? given;
    const ways = raw === given ? undefined : passed.get(given as Error);
    if (ways !== undefined) passed.set(raw as Error, ways);
    const mask =
      !stacks && isMasked(request.headers, refused.trust, masks)
        ? new ErrorMask(classes)
        : undefined;
    // Convert it once, so that the log has the error that the mask has seen.
    const thrown = mask === undefined ? raw : errorOf(raw);
    if (mask !== undefined) {
      hiddenErrors.set(request, thrown as Error);
      await mask.prepare(thrown as Error, classes.loadByName);
    }
    const trusted = refused.isOther !== true && refused.trust.trusted;
    // Services get all of an error. They learn its masked name for other callers only if the log has it here.
    const hidden =
      stacks || (trusted && isForCaller(thrown)) ? undefined : (mask?.hidden ?? new HiddenErrors());
    const answer = await encodeError(thrown, encoding, {
      classes,
      trusted,
      hidden,
      stacks: stacks || trusted,
      call: refused,
      mask,
      onLost: (what) =>
        host.log.warn(
          `${request.method} ${pathOf(request.target)} failed, and its error is sent without ${what}`,
          aboutOf(request),
        ),
    });
    if (request.notes !== undefined) request.notes.failure = { thrown };
    if (!trusted && hidden?.some === true) hiddenErrors.set(request, errorOf(thrown));
    try {
      if (!isDeparture(thrown, request)) report(refused, thrown, mask, hidden);
    } catch (fault) {
      // A getter of the error has thrown. The call has its answer all the same, and the log its id.
      const id = hidden?.some === true ? `: ${hidden.text}` : "";
      const failed = `${request.method} ${pathOf(request.target)} failed${id}`;
      host.log.error(`${failed}, with an error that can't be logged`, fault, aboutOf(request));
    }
    if (!(thrown instanceof ServiceError)) return answer;
    // For programs, which can't recognise an error by its message.
    const { kind } = thrown.constructor as typeof ServiceError;
    return withHeaders(answer, {
      [headers.error]: kind,
      ...(isRefusal(thrown) && refusedHeader()),
      ...(answer.status === 401 && isRefusal(thrown) && keyChallenge),
      ...notStartedHeader(refusedStartReason(thrown)),
      ...(thrown instanceof NodeNotAvailable ? { "retry-after": "1" } : {}),
    });
  };
}

function encodingFor({ encoding, request, isOther, route }: Refused): AnswerEncoding {
  // Only calls have answers in JSON.
  return encoding === "plain" && isOther === undefined && route === undefined
    ? answerEncoding(encoding, request.headers)
    : encoding;
}

/** Whether an error tells its caller all there is. A mistake of the application isn't the caller's. */
function isForCaller(thrown: unknown): boolean {
  return (
    thrown instanceof ServiceError &&
    !(thrown instanceof ValueNotSerializable) &&
    !isInnerRefusal(thrown)
  );
}

/** The fields that lead to other log lines about the same request. */
function aboutOf({ target, headers: fields, notes }: HttpRequest): LogFields {
  const path = pathOf(target);
  return {
    request: requestIdOf(fields),
    trace: traceIdOf(fields),
    procedure: path.startsWith(rpcPath) ? procedureOf(path) : notes?.route?.name,
  };
}

const procedureOf = (path: string): string =>
  withoutVersion(decodeSegment(path.slice(rpcPath.length)));

/** An application's error may have a getter in place of trace lines, and it may throw. */
function readTrace(thrown: unknown, call: Refused): readonly string[] {
  try {
    return linesOf(thrown, call);
  } catch {
    return [];
  }
}

/** Whether the call ended because its caller went away, which isn't an error. */
function isDeparture(thrown: unknown, request: HttpRequest): boolean {
  const { aborted, reason: why } = request.departure ?? request.signal;
  if (!aborted) return false;
  const { cause, name } = (thrown ?? {}) as { cause?: unknown; name?: unknown };
  return thrown === why || cause === why || name === "AbortError";
}
