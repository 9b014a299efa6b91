// An endpoint in memory: one function with the codecs of calls and answers, without role or socket.

import type { Parameter } from "../src/base/manifest.ts";
import { bindArguments } from "../src/runtime/parameters.ts";
import type { HttpRequest, HttpResponse, IncomingResponse } from "../src/base/ports.ts";
import type { Classes } from "../src/codec/classes.ts";
import { defaultLimits } from "../src/base/limits.ts";
import { decodeArguments } from "./_decode-arguments.ts";
import { encodeError } from "../src/wire/encode-error.ts";
import { encodeResult } from "../src/wire/encode-result.ts";
import { answerEncoding, type Encoding, readEncoding } from "../src/wire/encoding.ts";
import { createWireClasses } from "./_wire-classes.ts";
import { chunksOf } from "../src/http/bodies.ts";

export interface Endpoint {
  readonly parameters: readonly Parameter[];
  readonly run: (...args: never[]) => unknown;
  readonly classes?: Classes;
  readonly trusted?: boolean;
}

export interface EndpointRequest {
  readonly method?: string;
  readonly query?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
}

/** The endpoint's answer, with its body as bytes and as text. */
export async function callEndpoint(
  endpoint: Endpoint,
  { method = "GET", query = "", headers = {}, body = "" }: EndpointRequest,
): Promise<IncomingResponse & { text: string }> {
  const bytes = typeof body === "string" ? new TextEncoder().encode(body) : body;
  const request: HttpRequest = {
    method,
    target: `/rpc/f?${query}`,
    scheme: "http",
    headers,
    signal: new AbortController().signal,
    body: chunksOf(bytes),
    readBody: async () => bytes,
  };
  const { classes = createWireClasses(), trusted = false } = endpoint;
  let encoding: Encoding = "plain";
  let response: HttpResponse;
  try {
    encoding = readEncoding(headers);
    const args = await decodeArguments(request, query, endpoint, {
      classes,
      limits: defaultLimits,
      trusted,
      encoding,
    });
    const run = endpoint.run as (...args: unknown[]) => unknown;
    response = await encodeResult(
      await run(...bindArguments(endpoint.parameters)(args)),
      answerEncoding(encoding, headers),
      { classes, trusted },
    );
  } catch (thrown) {
    response = await encodeError(thrown, answerEncoding(encoding, headers), {
      classes,
      trusted,
      stacks: trusted,
    });
  }
  return incoming(response);
}

/** An answer as a caller gets it. */
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
