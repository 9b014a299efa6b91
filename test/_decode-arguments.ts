import type { Args } from "../src/base/call.ts";
import type { Parameter } from "../src/base/manifest.ts";
import type { HttpRequest } from "../src/base/ports.ts";
import {
  type DecodeCallOptions,
  decodeReceived,
  prepareDecoding,
  receiveBody,
  receivedRequest,
} from "../src/wire/decode-call.ts";

/** The arguments of a request, as a node reads them. */
export async function decodeArguments(
  request: HttpRequest,
  query: string,
  procedure: { readonly parameters: readonly Parameter[] } | undefined,
  options: DecodeCallOptions,
): Promise<Args> {
  const whole = receivedRequest(request, await receiveBody(request, options.limits));
  return decodeReceived(whole, query, procedure, options, await prepareDecoding(whole, options));
}
