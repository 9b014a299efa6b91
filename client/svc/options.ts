// Calls with options, and headers for all calls of a page. Part of /svc/rare.js, which the first
// such call loads.

import { OptionsContext, ownHeaders, sentHeaders } from "../../src/runtime/options-context.ts";
import type { Context } from "../../src/base/context.ts";
import { DeadlineExceeded } from "../../src/base/errors.ts";
import { watch } from "../../src/base/bounded.ts";
import type { Clock } from "../../src/base/ports.ts";
import { defaultTime } from "../../src/codec/values/limits.ts";
import { readOptionHeaders } from "../../src/http/option-headers.ts";
import * as options from "../../src/runtime/call-options.ts";
import type { CallWith } from "../../src/types/call-options.ts";
import type { PageHeaders } from "../../src/types/client.ts";
import type { OutgoingCall } from "../../src/types/outgoing-call.ts";

interface PageWithHeaders {
  readonly browser: { readonly clock: Clock };
  headers?: PageHeaders | undefined;
}

function hostOf(clock: Clock): options.OptionsHost {
  // Browsers can't carry a context across an await.
  return { clock, carrier: { run: (_, act) => act(), current: () => undefined }, isPage: true };
}

/** Makes one call of `withOptions(procedure, options)` in this page. */
export async function callWith(clock: Clock, ...call: Parameters<CallWith>): Promise<unknown> {
  return await options.callWith(hostOf(clock), ...call);
}

/** Runs `act` under the last argument of `runProcedure`. */
export async function runUnder(
  clock: Clock,
  last: unknown,
  act: (context: Context) => Promise<unknown>,
): Promise<unknown> {
  return await options.runUnder(hostOf(clock), last, act);
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
  const found = await settled(clock, context.signal, deadline, headers, fqn);
  const own = new Map([
    ...readOptionHeaders(found, "startClient", true),
    ...(ownHeaders(context) ?? []),
  ]);
  const { signal, trace, hops } = context;
  const parts = { headers: sentHeaders(context), deadline, trace, hops, signal: () => signal };
  return { ...call, context: new OptionsContext(parts, own) };
}

/** Waits for the headers no longer than the call may take. */
async function settled(
  clock: Clock,
  signal: AbortSignal,
  deadline: number,
  headers: PageHeaders,
  fqn: string,
): Promise<unknown> {
  signal.throwIfAborted();
  let end = (): void => {};
  return await new Promise((resolve, reject) => {
    const leave = watch(signal, () => reject(signal.reason));
    const cancel = clock.after(Math.max(0, deadline - clock.now()), () =>
      reject(new DeadlineExceeded(`The headers for '${fqn}' did not come in time`)),
    );
    end = () => {
      leave();
      cancel();
    };
    (async () => await headers())().then(resolve, reject);
  }).finally(() => end());
}
