// Counts calls and their times, by procedure.

import { frameworkErrors, ServiceError } from "../../../src/base/errors.ts";
import { headers, rpcPath } from "../../../src/base/protocol.ts";
import { withoutVersion } from "../../../src/base/version.ts";
import { pathOf } from "../../../src/http/router.ts";
import type { Answered } from "../requests/request-log.ts";
import type { Exposition } from "./exposition.ts";
import { families } from "./families.ts";

/** Procedures with numbers of their own. A time series costs a Prometheus more than a counter here. */
const mostProcedures = 1_000;
/** Stands for all other names, and for names that no service has announced. */
export const others = "other";
const bounds: readonly number[] = [
  0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30,
];

class Series {
  calls = 0;
  seconds = 0;
  /** For each bound, the number of calls that took at most that long, and longer than the bound before. */
  readonly buckets: number[] = bounds.map(() => 0);
  readonly failures: Partial<Record<string, number>> = {};
}

export class CallMetrics {
  readonly #series = new Map<string, Series>([[others, new Series()]]);
  readonly #knows: (name: string) => boolean;

  /** `knows` says which names have been announced. */
  constructor(knows: (name: string) => boolean) {
    this.#knows = knows;
  }

  /** Counts a request, if it is a call or for a route. */
  add(answered: Answered): void {
    const { request, notes, ms } = answered;
    const path = request.target.startsWith(rpcPath) ? pathOf(request.target) : undefined;
    if (path === undefined && notes.route === undefined) return;
    const series = this.#seriesOf(notes.route?.name, path ?? "");
    const seconds = ms / 1_000;
    series.calls++;
    series.seconds += seconds;
    for (let at = 0; at < bounds.length; at++)
      if (seconds <= bounds[at]!) {
        series.buckets[at]!++;
        break;
      }
    const kind = failureOf(answered);
    if (kind !== undefined) series.failures[kind] = (series.failures[kind] ?? 0) + 1;
  }

  writeTo(text: Exposition): void {
    const all = [...this.#series].filter(([name, { calls }]) => calls > 0 || name === others);
    text.family(families.calls);
    for (const [procedure, { calls }] of all)
      text.sample(families.calls.name, calls, { procedure });
    text.family(families.failures);
    for (const [procedure, { failures }] of all)
      for (const [kind, count = 0] of Object.entries(failures))
        text.sample(families.failures.name, count, { procedure, kind });
    text.family(families.duration);
    const { name } = families.duration;
    for (const [procedure, { calls, seconds, buckets }] of all) {
      let sum = 0;
      for (const [at, bound] of bounds.entries()) {
        sum += buckets[at] ?? 0;
        text.sample(`${name}_bucket`, sum, { procedure, le: String(bound) });
      }
      text.sample(`${name}_bucket`, calls, { procedure, le: "+Inf" });
      text.sample(`${name}_sum`, seconds, { procedure });
      text.sample(`${name}_count`, calls, { procedure });
    }
  }

  /** Only names that were announced make a series: callers could make any number of them. */
  #seriesOf(route: string | undefined, path: string): Series {
    const name = route ?? path.slice(rpcPath.length);
    const known = this.#series.get(name);
    if (known !== undefined && name !== others) return known;
    const decoded = route ?? decodedName(name);
    const series = this.#series.get(decoded);
    if (series !== undefined && decoded !== others) return series;
    const rest = this.#series.get(others)!;
    if (this.#series.size > mostProcedures || decoded === others) return rest;
    if (route === undefined && !this.#knows(decoded)) return rest;
    const added = new Series();
    this.#series.set(decoded, added);
    return added;
  }
}

function decodedName(name: string): string {
  try {
    return withoutVersion(name.includes("%") ? decodeURIComponent(name) : name);
  } catch {
    return others;
  }
}

/** The name of the error that a request was answered with: the runtime's, or `Application`. */
function failureOf({ request, notes, response }: Answered): string | undefined {
  const { failure, route } = notes;
  if (failure !== undefined) {
    if ((request.departure ?? request.signal).aborted) return "CallerLeft";
    const { thrown } = failure;
    return thrown instanceof ServiceError
      ? runtimeKind((thrown.constructor as typeof ServiceError).kind)
      : "Application";
  }
  // It came from another service.
  const said = response.headers[headers.error];
  if (said !== undefined) return runtimeKind(said);
  return response.status >= (route === undefined ? 400 : 500) ? "Application" : undefined;
}

const runtimeKind = (kind: unknown): string =>
  typeof kind === "string" && kind !== "ServiceError" && frameworkErrors.has(kind)
    ? kind
    : "Application";
