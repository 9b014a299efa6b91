// Headers by which one service informs the next about a call. Only members of the deployment are
// trusted.

import type { HeaderFields, HttpResponse, PeerResponse } from "../base/ports.ts";
import { headers as callHeaders, serviceHeaders } from "../base/protocol.ts";
import type { Trust } from "./trust.ts";

export interface RelayedState {
  /** How many services have passed the call on. */
  readonly hops: number;
  /** Milliseconds left for the call; `undefined` if the sender set no limit. */
  readonly msLeft: number | undefined;
}

/** For a call that this host sends, after `hops` services have passed it on. */
export function relayHeaders(hops: number, msLeft: number): Record<string, string> {
  return {
    [callHeaders.hops]: String(hops + 1),
    [callHeaders.deadline]: String(Math.ceil(msLeft)),
  };
}

const firstHop: RelayedState = { hops: 0, msLeft: undefined };

/** Header fields that a member of the deployment sends about a call. */
export function readRelayHeaders(
  fields: HeaderFields,
  { member }: Pick<Trust, "member">,
): RelayedState {
  if (!member) return firstHop;
  const hops = digitsIn(fields[callHeaders.hops], 3);
  return { hops: hops ?? 0, msLeft: digitsIn(fields[callHeaders.deadline], 9) };
}

function digitsIn(field: unknown, most: number): number | undefined {
  return typeof field === "string" && field.length <= most && /^\d+$/.test(field)
    ? Number(field)
    : undefined;
}

/**
 * Whether a page of another origin made the call: only the node knows if the procedure is `safe`.
 */
export function crossSiteHeader(crossSite: boolean): Record<string, string> {
  return { [serviceHeaders.crossSite]: crossSite ? "yes" : "no" };
}

/** The first service's verdict on the browser's request; `undefined` without one. */
export function readCrossSite(fields: HeaderFields): boolean | undefined {
  const field = fields[serviceHeaders.crossSite];
  return field === "yes" ? true : field === "no" ? false : undefined;
}

/** Tells the next service to mask errors. */
export function maskHeader(masks: boolean): Record<string, string> | undefined {
  return masks ? { [serviceHeaders.errors]: "masked" } : undefined;
}

/** Whether the service that passed the call on masks errors, or had to mask them. */
export function asksForMask(fields: HeaderFields): boolean {
  return fields[serviceHeaders.errors] === "masked";
}

/** Tells a node that the procedure which calls it is of another build. */
export function otherBuildHeader(isOther: boolean): Record<string, string> | undefined {
  return isOther ? { [serviceHeaders.otherBuild]: "yes" } : undefined;
}

/** Whether the gateway says so. */
export function isOfOtherBuild(fields: HeaderFields): boolean {
  return fields[serviceHeaders.otherBuild] === "yes";
}

/** Marks an answer with which the service itself refused the call. */
export function refusedHeader(): Record<string, string> {
  return { [serviceHeaders.refused]: "yes" };
}

/** Removes the mark, which is only for services. */
export function withoutRefusedHeader(answer: HttpResponse): HttpResponse {
  if (!(serviceHeaders.refused in answer.headers)) return answer;
  const { [serviceHeaders.refused]: _, ...headers } = answer.headers;
  return { ...answer, headers };
}

export function isMarkedRefused(fields: HeaderFields): boolean {
  return fields[serviceHeaders.refused] === "yes";
}

/**
 * Why a service refused a call before it began:
 * - `leaving`: it stops, and others take its calls;
 * - `starting`: it has yet to join, so calls were meant for a previous process at its address; or it
 *   is a gateway whose members have yet to join;
 * - `no-member`: it is a gateway, and no member that has the procedure is left;
 * - `overload`: it has too much to do.
 */
export type NotStartedReason = (typeof notStartedReasons)[number];
const notStartedReasons = ["leaving", "starting", "no-member", "overload"] as const;

/** Tells the sender that the call didn't begin. */
export function notStartedHeader(
  reason: NotStartedReason | undefined,
): Record<string, string> | undefined {
  return reason === undefined ? undefined : { [serviceHeaders.notStarted]: reason };
}

/** Why a service refused the call before it began; `undefined` for all other answers. */
export function notStartedReason({
  status,
  headers,
}: Pick<PeerResponse, "status" | "headers">): NotStartedReason | undefined {
  if (status !== 503) return undefined;
  const field = headers[serviceHeaders.notStarted];
  return notStartedReasons.find((reason) => reason === field);
}

const misfits: ReadonlySet<unknown> = new Set([
  "ProcedureNotFound",
  "MissingParameterValue",
  "UnknownParameter",
  "InvalidParameterValue",
  "InvalidSerializedValue",
]);

/**
 * Whether a service refused a call, before it ran, because of something that another build of the application may
 * accept: its version, its parameters, or the classes of its arguments.
 */
export function isMisfit({ status, headers }: Pick<PeerResponse, "status" | "headers">): boolean {
  return (
    (status === 404 || status === 400) &&
    isMarkedRefused(headers) &&
    misfits.has(headers[callHeaders.error])
  );
}

/**
 * Whether a caller gets masked errors: not if it is trusted, and otherwise if this service masks
 * them, or a service that passed the request on.
 */
export function isMasked(
  fields: HeaderFields,
  trust: Pick<Trust, "member" | "trusted">,
  masks: boolean,
): boolean {
  return !trust.trusted && (masks || (trust.member && asksForMask(fields)));
}
