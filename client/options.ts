// Calls with options or by name, and headers of a page's calls. Part of /svc/rare.js, which the first
// such call loads.

import { OptionsContext, ownHeaders, sentHeaders } from "../src/runtime/options-context.ts";
import { emptyContext, isContext, type Context, type ContextParts } from "../src/base/context.ts";
import { DeadlineExceeded } from "../src/base/errors.ts";
import type { Clock, ContextCarrier } from "../src/base/ports.ts";
import { defaultTime } from "../src/base/limits.ts";
import { type OwnHeaders, readOptionHeaders } from "../src/http/option-headers.ts";
import * as options from "../src/runtime/call-options.ts";
import { type Away, createRuns } from "../src/runtime/calls.ts";
import type { Copies } from "../src/codec/values/snapshot.ts";
import { bindArguments } from "../src/runtime/parameters.ts";
import type { Placement } from "../src/runtime/placement.ts";
import type { SeamHost } from "../src/runtime/seam.ts";
import { TimedContext } from "../src/runtime/timed-context.ts";
import type { CallWith } from "../src/types/call-options.ts";
import type { PageHeaders } from "../src/types/client.ts";
import type { OutgoingCall } from "../src/types/outgoing-call.ts";
import { unavailable } from "./unavailable.ts";
import { within } from "./within.ts";

// Browsers can't carry a context across an await.
const carrier: ContextCarrier = {
  run: (_, act) => act(),
  current: () => undefined,
  snapshot: () => (act) => act(),
};

/** The part of a started page that this file uses. */
interface Started {
  readonly browser: { readonly clock: Clock };
  readonly placement: Pick<Placement, "find">;
  readonly remote: () => Promise<Pick<Away, "call">>;
}

interface WithHeaders extends Pick<Started, "browser"> {
  readonly headers?: PageHeaders | undefined;
}

/**
 * Makes one call of `withOptions(procedure, options)` in this page, which began when the page
 * started to load this file; `copies` are its values at that moment.
 */
export async function callWith(
  page: Started,
  began: number,
  copies: Copies | undefined,
  ...call: Parameters<CallWith>
): Promise<unknown> {
  return await limited(page, { began, copies, place: "withOptions" }, call);
}

/** Calls a procedure by name. `began` and `copies` are as above. */
export async function runProcedure(
  page: Started,
  began: number,
  copies: Copies | undefined,
  ...[name, version, args, last]: Parameters<SeamHost["runProcedure"]>
): Promise<unknown> {
  const runs = createRuns({
    // Always waits, so that the arguments are copied: /svc/remote.js may not be there yet.
    find: async (...called) => await page.placement.find(...called),
    carrier,
    call: async (...call) => await (await page.remote()).call(...call),
    bind: bindArguments,
    createContext: (parts) => new TimedContext(parts, page.browser.clock),
  });
  const run = async function (this: Context): Promise<unknown> {
    return await runs.runProcedure(name, version, args, this);
  };
  const context = isContext(last) ? last : undefined;
  const own = context === undefined ? (last ?? undefined) : undefined;
  if (copies === undefined && own === undefined) return await run.call(context ?? emptyContext());
  const begun = { began, copies, place: "runProcedure" };
  return await limited(page, begun, [run, own ?? {}, context, []]);
}

async function limited(
  { browser: { clock } }: Pick<Started, "browser">,
  begun: Pick<options.OptionsHost, "began" | "copies" | "place">,
  call: Parameters<CallWith>,
): Promise<unknown> {
  const createContext = (parts: ContextParts): Context => new TimedContext(parts, clock);
  const bind = async (parts: options.BindParts): Promise<unknown> =>
    (await import("./stream.ts").catch(unavailable("stream"))).bindStream(parts);
  const host = { clock, carrier, bind, createContext, ...begun, isPage: true };
  return await options.callWith(host, ...call);
}

/**
 * `call` with its headers: those that the page's `headers` function returns override inherited headers, and its own
 * override those.
 */
export async function withHeaders(
  { browser: { clock }, headers }: WithHeaders,
  call: OutgoingCall,
): Promise<OutgoingCall> {
  const { context, fqn } = call;
  const { signal, trace, hops } = context;
  const end = clock.now() + defaultTime;
  const endsAt = Math.min(context.endsAt ?? end, end);
  const ask = async (): Promise<OwnHeaders> => {
    if (headers === undefined) return new Map();
    if (typeof headers !== "function")
      throw new TypeError(`startClient: 'headers' must be a function, not a ${typeof headers}`);
    const found = await within(
      clock,
      async () => await headers(),
      Math.max(0, endsAt - clock.now()),
      () => new DeadlineExceeded(`The headers for '${fqn}' did not come in time`),
      signal,
    );
    return readOptionHeaders(found, "startClient", true);
  };
  const own = new Map([...(await ask()), ...(ownHeaders(context) ?? [])]);
  const parts = { headers: sentHeaders(context), endsAt, trace, hops, signal: () => signal };
  return { ...call, context: new OptionsContext(parts, own) };
}
