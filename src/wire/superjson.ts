// Loads superjson when a value first needs it, in pages and in services alike, and decides whether
// a call's arguments do.

import type { Args } from "../base/call.ts";
import { NodeNotAvailable } from "../base/errors.ts";
import type { ClassTable } from "../codec/class-table.ts";
import { needsReferences } from "../codec/values/fault.ts";
import { encodeArguments } from "../codec/serialized.ts";
import type { Encoding } from "./encoding.ts";

type Superjson = typeof import("../codec/superjson/superjson.ts");

let superjson: Superjson | undefined;

/** The superjson codec. Rejects with NodeNotAvailable in a page that can't fetch it. */
export async function loadSuperjson(): Promise<Superjson> {
  try {
    return (superjson ??= await import("../codec/superjson/superjson.ts"));
  } catch (cause) {
    throw new NodeNotAvailable("A value needs superjson, which can't be loaded", { cause });
  }
}

/** The same without waiting, once {@link loadSuperjson} has resolved. */
export function loadedSuperjson(): Superjson {
  return superjson as Superjson;
}

/**
 * A call's arguments in `encoding`, or in superjson if nothing else can carry them. Throws
 * ValueNotSerializable.
 */
export async function encodeCall(
  args: Args,
  options: { readonly classes: ClassTable },
  encoding: Encoding,
): Promise<{ readonly body: string; readonly encoding: Encoding }> {
  try {
    if (encoding !== "superjson") return { body: await encodeArguments(args, options), encoding };
  } catch (thrown) {
    if (!needsReferences(thrown)) throw thrown;
  }
  const { encodeSuperjsonArguments } = await loadSuperjson();
  return { body: await encodeSuperjsonArguments(args, options), encoding: "superjson" };
}
