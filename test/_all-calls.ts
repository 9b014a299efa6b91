// Every call of the tables, the environments in which it is made, and what counts as the same
// answer.

import { difference } from "../e2e/wire/src/checks/difference.ts";
import * as errors from "../src/base/errors.ts";
import { traceOf } from "../src/base/trace.ts";
import {
  type CallCase,
  type ClientCall,
  everyPlain,
  type HttpAnswer,
  type HttpCall,
} from "./_call.ts";
import { accessCalls, endpointCalls, versionCalls } from "./_call-access.ts";
import { namedCalls } from "./_call-names.ts";
import { bodyCalls, queryCalls } from "./_call-query.ts";
import { resultCases, wireCalls } from "./_call-results.ts";
import { superjsonCalls } from "./_call-superjson.ts";
import { OutOfStock, Refused } from "./_wire-classes.ts";

/** Where the application runs and what calls it. */
export const environments = [
  "in memory",
  "over a socket",
  "proxy, gateway, two nodes",
  "in Chromium",
] as const;
export type Environment = (typeof environments)[number];

/** All tables. */
export const allCases: readonly CallCase[] = [
  ...namedCalls,
  ...queryCalls,
  ...bodyCalls,
  ...versionCalls,
  ...accessCalls,
  ...endpointCalls,
  ...resultCases,
  ...superjsonCalls,
  ...wireCalls,
].map((call: CallCase): CallCase => {
  const { http, answer } = call;
  if (http === undefined || answer === undefined) return call;
  if (!http.path.startsWith("/rpc/") || http.method === "OPTIONS") return call;
  // An unknown encoding is refused in text.
  const isEncoded = /serialized|superjson/i.test(http.headers?.["x-svc-data-encoding"] ?? "");
  const { vary } = everyPlain;
  return isEncoded
    ? call
    : { ...call, answer: { ...answer, headers: { ...answer.headers, vary } } };
});

/** How often a call is made in an environment: as a request, and by a client. */
export const runsIn = (call: CallCase, environment: Environment): number =>
  environment === "in Chromium" && call.noPage !== undefined
    ? 0
    : (call.http ? 1 : 0) + (call.client ? 1 : 0);

/**
 * For docs/specification.md: what each call shows, and how often it is made in each environment.
 */
export const cases: readonly {
  readonly ids: readonly string[];
  readonly ways: readonly { readonly way: string; readonly runs: number }[];
}[] = allCases.map((call) => ({
  ids: call.ids.split(" "),
  ways: environments.map((way) => ({ way, runs: runsIn(call, way) })),
}));

const connectionHeaders =
  /^(connection|keep-alive|date|content-length|transfer-encoding|x-svc-node)$/;

/**
 * An answer in the form that is compared: JSON parsed, without headers of the connection or node.
 */
export function comparable(answer: HttpAnswer): {
  status: number;
  headers: Record<string, string>;
  body: unknown;
} {
  const headers = Object.fromEntries(
    Object.entries(answer.headers).filter(([name]) => !connectionHeaders.test(name)),
  );
  const json = headers["content-type"] === "application/json" && answer.body !== "";
  return {
    status: answer.status,
    headers,
    body: json ? (JSON.parse(answer.body) as unknown) : answer.body,
  };
}

/** The bytes of a request's body: `fetch` would set a content type for text. */
export const bodyOf = ({ body }: HttpCall): { body?: Uint8Array<ArrayBuffer> } =>
  body ? { body: new TextEncoder().encode(body) } : {};

const classes: Readonly<Record<string, unknown>> = { ...errors, OutOfStock, Refused };

/** Makes a client's call, and describes how the outcome differs from the table. */
export async function differenceOf(
  call: ClientCall,
  run: () => Promise<unknown>,
): Promise<string | undefined> {
  const outcome = await run().then(
    (value) => ({ value }),
    (thrown: unknown) => ({ thrown }),
  );
  if (call.error === undefined)
    return "thrown" in outcome
      ? `threw ${String(outcome.thrown)}`
      : await difference(call.value, outcome.value, "result");
  if (!("thrown" in outcome)) return `gave ${JSON.stringify(outcome.value)}`;
  const { name, message, trace, fields = {} } = call.error;
  const thrown = outcome.thrown as Error & Record<string, unknown>;
  const Kind = (classes[name] ?? (globalThis as Record<string, unknown>)[name]) as new () => Error;
  if (thrown.constructor !== Kind) return `threw a ${thrown.constructor.name}: ${thrown.message}`;
  const own = Object.fromEntries(Object.keys(fields).map((field) => [field, thrown[field]]));
  return await difference(
    { name, message, ...(trace && { trace }), ...fields },
    {
      name: thrown.name,
      message: thrown.message,
      ...(trace && { trace: [...traceOf(thrown)] }),
      ...own,
    },
    "error",
  );
}
