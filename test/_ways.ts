// The four ways in which every call of the tables is made, and what counts as the same answer.

import { difference } from "../e2e/wire/src/checks/difference.ts";
import * as errors from "../src/errors.ts";
import { traceOf } from "../src/trace.ts";
import type { CallCase, ClientCall, HttpAnswer, HttpCall } from "./_call.ts";
import { accessCalls, doorCalls, versionCalls } from "./_call-access.ts";
import { namedCalls } from "./_call-names.ts";
import { bodyCalls, queryCalls } from "./_call-query.ts";
import { resultCases, wireCalls } from "./_call-results.ts";
import { superjsonCalls } from "./_call-superjson.ts";
import { OutOfStock, Refused } from "./_wire-classes.ts";

/** Where the application runs and who calls. */
export const ways = [
  "in memory",
  "over a socket",
  "proxy, gateway, two nodes",
  "in Chromium",
] as const;
export type WayName = (typeof ways)[number];

/** All tables. */
export const allCases: readonly CallCase[] = [
  ...namedCalls,
  ...queryCalls,
  ...bodyCalls,
  ...versionCalls,
  ...accessCalls,
  ...doorCalls,
  ...resultCases,
  ...superjsonCalls,
  ...wireCalls,
];

/** How often a call is made in a way: as a request, and by a client. */
export const runsIn = (one: CallCase, way: WayName): number =>
  way === "in Chromium" && one.noPage !== undefined ? 0 : (one.http ? 1 : 0) + (one.client ? 1 : 0);

/** For docs/specification.md: what each call shows, and how often it is made in each way. */
export const cases: readonly {
  readonly ids: readonly string[];
  readonly ways: readonly { readonly way: string; readonly runs: number }[];
}[] = allCases.map((one) => ({
  ids: one.ids.split(" "),
  ways: ways.map((way) => ({ way, runs: runsIn(one, way) })),
}));

const ofTheConnection =
  /^(connection|keep-alive|date|content-length|transfer-encoding|x-svc-node)$/;

/** An answer as it is compared: without what belongs to the connection or the node, JSON as what it stands for. */
export function comparable(answer: HttpAnswer): {
  status: number;
  headers: Record<string, string>;
  body: unknown;
} {
  const headers = Object.fromEntries(
    Object.entries(answer.headers).filter(([name]) => !ofTheConnection.test(name)),
  );
  const json = headers["content-type"] === "application/json" && answer.body !== "";
  return {
    status: answer.status,
    headers,
    body: json ? (JSON.parse(answer.body) as unknown) : answer.body,
  };
}

/** The bytes of a request's body: text would get a content type of its own from `fetch`. */
export const bodyOf = ({ body }: HttpCall): { body?: Uint8Array<ArrayBuffer> } =>
  body ? { body: new TextEncoder().encode(body) } : {};

const classes: Readonly<Record<string, unknown>> = { ...errors, OutOfStock, Refused };

/** Makes a client's call and says in which way what came of it is not what the table says. */
export async function differenceOf(
  call: ClientCall,
  run: () => Promise<unknown>,
): Promise<string | undefined> {
  const came = await run().then(
    (value) => ({ value }),
    (thrown: unknown) => ({ thrown }),
  );
  if (call.error === undefined)
    return "thrown" in came
      ? `threw ${String(came.thrown)}`
      : await difference(call.value, came.value, "result");
  if (!("thrown" in came)) return `gave ${JSON.stringify(came.value)}`;
  const { name, message, trace, fields = {} } = call.error;
  const thrown = came.thrown as Error & Record<string, unknown>;
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
