// A remote call over a transport that keeps what was sent and answers what it is told.

import { Context } from "../../../src/base/context.ts";
import type { IncomingResponse, OutgoingRequest, Peer } from "../../../src/base/ports.ts";
import type { Classes } from "../../../src/codec/classes.ts";
import { defaultLimits, type Limits } from "../../../src/base/limits.ts";
import { encodeError } from "../../../src/wire/encode-error.ts";
import { encodeResult } from "../../../src/wire/encode-result.ts";
import type { Answer } from "../../../src/types/outgoing-call.ts";
import { createRemote, type RemoteOptions } from "../../../src/wire/outgoing/remote-call.ts";
import { TestClock } from "../../_cluster.ts";
import { incoming } from "../../_endpoint.ts";
import { createWireClasses } from "../../_wire-classes.ts";

export const classes: Classes = createWireClasses();
export const limits: Limits = defaultLimits;

/** A transport that keeps what was sent and answers what it is told. */
export function fake(
  answer: (request: OutgoingRequest) => IncomingResponse | Promise<IncomingResponse>,
): Peer & { sent: OutgoingRequest[] } {
  const sent: OutgoingRequest[] = [];
  return {
    sent,
    send: async (request) => {
      sent.push(request);
      return await answer(request);
    },
  };
}

export const text = (body: string, more: Partial<IncomingResponse> = {}): IncomingResponse => ({
  status: 200,
  headers: { "x-svc-data-type": "string", "content-type": "text/plain" },
  body: new TextEncoder().encode(body),
  ...more,
});

export function context(
  more: Partial<{
    headers: Record<string, string>;
    deadline: number;
    hops: number;
    signal: AbortSignal;
  }> = {},
): Context {
  return new Context({
    headers: new Map(Object.entries(more.headers ?? {})),
    endsAt: more.deadline,
    trace: [],
    hops: more.hops ?? 0,
    signal: () => more.signal ?? new AbortController().signal,
  });
}

export function remote(
  transport: Peer,
  more: Partial<RemoteOptions> = {},
): (args?: Record<string, unknown>, from?: Context) => Promise<Answer> {
  const { call } = createRemote({
    transport,
    base: "http://gateway",
    classes,
    limits,
    clock: new TestClock(),
    ...more,
  });
  return (args: Record<string, unknown> = {}, from: Context = context()) =>
    call({
      fqn: "shop/quote",
      version: "1.0.0",
      args: new Map(Object.entries(args)),
      context: from,
    });
}

/** The call's answer as another service would make it. */
export const returning = async (value: unknown): Promise<IncomingResponse> =>
  incoming(await encodeResult(value, "serialized", { classes }));
export const failing = async (thrown: unknown): Promise<IncomingResponse> =>
  incoming(await encodeError(thrown, "serialized", { classes, stacks: false }));
