// When the second encoding is chosen (decisions §3), and where it comes from: neither a page nor a service loads it before a value needs it.

import type { Args } from "../call.ts";
import { NodeNotAvailable } from "../errors.ts";
import type { ClassTable } from "../serializer/class-table.ts";
import { needsReferences } from "../serializer/fault.ts";
import { encodeArguments } from "../serializer/serialized.ts";
import type { Encoding } from "./decode-call.ts";

type Superjson = typeof import("../serializer/superjson.ts");

let superjson: Superjson | undefined;

/** What reads and writes superjson. Rejects with NodeNotAvailable in a page that can't fetch it. */
export async function loadSuperjson(): Promise<Superjson> {
  try {
    return (superjson ??= await import("../serializer/superjson.ts"));
  } catch (cause) {
    throw new NodeNotAvailable("A value needs superjson, which can't be loaded", { cause });
  }
}

/** The same at once, after {@link loadSuperjson}. */
export function loadedSuperjson(): Superjson {
  return superjson as Superjson;
}

/** A call's arguments in the encoding wanted, or in superjson if nothing else carries them. Throws ValueNotSerializable with the path. */
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
  return {
    body: await (await loadSuperjson()).encodeSuperjsonArguments(args, options),
    encoding: "superjson",
  };
}
