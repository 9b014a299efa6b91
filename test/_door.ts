// A door in memory: one function behind what decodes a call and encodes its answer, without role or socket.

import type { Parameter } from "../src/manifest.ts";
import { bindArguments } from "../src/parameters.ts";
import type { HttpRequest, HttpResponse, IncomingResponse } from "../src/ports.ts";
import type { ClassTable } from "../src/serializer/class-table.ts";
import { defaultLimits } from "../src/serializer/limits.ts";
import { type Encoding, decodeArguments, readEncoding } from "../src/wire/decode-call.ts";
import { encodeError, encodeResult } from "../src/wire/encode-result.ts";
import { createWireClasses } from "./_wire-classes.ts";

export interface Door {
  readonly parameters: readonly Parameter[];
  readonly run: (...args: never[]) => unknown;
  readonly classes?: ClassTable;
  readonly trusted?: boolean;
}

export interface Knock {
  readonly method?: string;
  readonly query?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
}

/** The door's answer, its body as bytes and as text. */
export async function knock(
  door: Door,
  { method = "GET", query = "", headers = {}, body = "" }: Knock,
): Promise<IncomingResponse & { text: string }> {
  const bytes = typeof body === "string" ? new TextEncoder().encode(body) : body;
  const request: HttpRequest = {
    method,
    target: `/rpc/f?${query}`,
    scheme: "http",
    headers,
    signal: new AbortController().signal,
    readBody: async () => bytes,
  };
  const { classes = createWireClasses(), trusted = false } = door;
  let encoding: Encoding = "plain";
  let response: HttpResponse;
  try {
    encoding = readEncoding(headers);
    const args = await decodeArguments(request, query, door, {
      classes,
      limits: defaultLimits,
      trusted,
    });
    const run = door.run as (...args: unknown[]) => unknown;
    response = await encodeResult(await run(...bindArguments(door.parameters)(args)), encoding, {
      classes,
    });
  } catch (thrown) {
    response = await encodeError(thrown, encoding, { classes, stacks: trusted });
  }
  return incoming(response);
}

/** What a caller gets of an answer. */
export function incoming(response: HttpResponse): IncomingResponse & { text: string } {
  const body =
    typeof response.body === "string"
      ? new TextEncoder().encode(response.body)
      : ((response.body ?? new Uint8Array()) as Uint8Array);
  return {
    status: response.status,
    headers: response.headers,
    body,
    text: new TextDecoder("utf-8", { ignoreBOM: true }).decode(body),
  };
}

export const json = { "content-type": "application/json" } as const;
export const serialized = { ...json, "x-svc-data-encoding": "serialized" } as const;
