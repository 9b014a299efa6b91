// Calls with options, and headers for all calls of a page. Part of /svc/rare.js, which the first
// such call loads.

import { OptionsContext, ownHeaders, sentHeaders } from "../../src/runtime/options-context.ts";
import { DeadlineExceeded } from "../../src/base/errors.ts";
import type { Clock, ContextCarrier } from "../../src/base/ports.ts";
import { defaultTime } from "../../src/codec/values/limits.ts";
import { readOptionHeaders } from "../../src/http/option-headers.ts";
import * as options from "../../src/runtime/call-options.ts";
import type { CallWith } from "../../src/types/call-options.ts";
import type { PageHeaders } from "../../src/types/client.ts";
import type { OutgoingCall } from "../../src/types/outgoing-call.ts";
import { within } from "../within.ts";

interface PageWithHeaders {
  readonly browser: { readonly clock: Clock };
  headers?: PageHeaders | undefined;
}

/**
 * Makes one call of `withOptions(procedure, options)` in this page, or one of `runProcedure` with
 * options, which `place` says. It began when the page started to load this file.
 */
export async function callWith(
  clock: Clock,
  began: number,
  place: string,
  ...call: Parameters<CallWith>
): Promise<unknown> {
  // Browsers can't carry a context across an await.
  const carrier: ContextCarrier = { run: (_, act) => act(), current: () => undefined };
  return await options.callWith({ clock, carrier, began, place, isPage: true }, ...call);
}

/** `call` with what the page's `headers` function returns: over inherited headers, under its own. */
export async function withPageHeaders(
  { browser: { clock }, headers }: PageWithHeaders,
  call: OutgoingCall,
): Promise<OutgoingCall> {
  if (typeof headers !== "function")
    throw new TypeError(`startClient: 'headers' must be a function, not a ${typeof headers}`);
  const { context, fqn } = call;
  const end = clock.now() + defaultTime;
  const deadline = Math.min(context.deadline ?? end, end);
  const found = await within(
    clock,
    async () => await headers(),
    Math.max(0, deadline - clock.now()),
    () => new DeadlineExceeded(`The headers for '${fqn}' did not come in time`),
    context.signal,
  );
  const own = new Map([
    ...readOptionHeaders(found, "startClient", true),
    ...(ownHeaders(context) ?? []),
  ]);
  const { signal, trace, hops } = context;
  const parts = { headers: sentHeaders(context), deadline, trace, hops, signal: () => signal };
  return { ...call, context: new OptionsContext(parts, own) };
}
