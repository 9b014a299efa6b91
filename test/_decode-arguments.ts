import type { Args } from "../src/base/call.ts";
import type { Parameter } from "../src/base/manifest.ts";
import type { HttpRequest } from "../src/base/ports.ts";
import { CallArguments, type DecodeCallOptions } from "../src/wire/decode-call.ts";
import type { Encoding } from "../src/wire/encoding.ts";

/** The arguments of a request, as a node reads them. */
export async function decodeArguments(
  request: HttpRequest,
  query: string,
  procedure: { readonly parameters: readonly Parameter[] } | undefined,
  {
    trusted,
    encoding,
    ...options
  }: DecodeCallOptions & { readonly trusted: boolean; readonly encoding: Encoding },
): Promise<Args> {
  const trust = { trusted, member: false, holdsKey: false, relays: false, inner: false };
  const receiveBody = async (limit: number, take: (body: Uint8Array) => void) =>
    take(await request.readBody(limit));
  const call = { request, query, encoding, trust, masksErrors: false, receiveBody };
  const args = new CallArguments(call, options);
  await args.receive();
  await args.load();
  return args.read(procedure);
}
