import type { Args } from "../src/base/call.ts";
import type { Parameter } from "../src/base/manifest.ts";
import type { HttpRequest } from "../src/base/ports.ts";
import {
  type DecodeCallOptions,
  decodeReceived,
  prepareDecoding,
  receiveBody,
} from "../src/wire/decode-call.ts";

/** The arguments of a request, as a node reads them. */
export async function decodeArguments(
  request: HttpRequest,
  query: string,
  procedure: { readonly parameters: readonly Parameter[] } | undefined,
  options: DecodeCallOptions,
): Promise<Args> {
  const wholeBody = (limit: number) => request.readBody(limit);
  const body = await receiveBody({ request, wholeBody }, options.limits);
  const whole = { method: request.method, headers: request.headers, body };
  return decodeReceived(whole, query, procedure, options, await prepareDecoding(whole, options));
}
