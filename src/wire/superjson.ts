// Loads superjson when a value first needs it, in pages and in services alike, and decides whether
// a call's arguments do.

import type { Args } from "../base/call.ts";
import { NodeNotAvailable } from "../base/errors.ts";
import type { ClassTable } from "../codec/class-table.ts";
import type { WalkOptions } from "../codec/form-walk.ts";
import { ownFiles, writeUpload } from "../codec/multipart/write-multipart.ts";
import { needsReferences } from "../codec/values/fault.ts";
import { snapshot } from "../codec/values/snapshot.ts";
import { encodeArguments } from "../codec/serialized.ts";
import type { Encoding } from "./encoding.ts";

type Superjson = typeof import("../codec/superjson/superjson.ts");

let superjson: Superjson | undefined;

export interface EncodedCall {
  /** A Blob is multipart/form-data, as its type says. */
  readonly body: string | Blob;
  readonly encoding: Encoding;
}

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
export function encodeCall(
  args: Args,
  { classes }: { readonly classes: ClassTable },
  encoding: Encoding,
): EncodedCall | Promise<EncodedCall> {
  // Services get all of an error, and a page has no errors to send.
  const options = { classes, trusted: true };
  try {
    if (encoding !== "superjson") {
      const encoded = encodeArguments(args, options);
      return encoded.attachments.length === 0
        ? { body: encoded.text, encoding }
        : encodeUpload(encoded, encoding);
    }
  } catch (thrown) {
    if (!needsReferences(thrown)) throw thrown;
  }
  return encodeReferences(args, options, encoding);
}

async function encodeUpload(
  encoded: ReturnType<typeof encodeArguments>,
  encoding: Encoding,
): Promise<EncodedCall> {
  return { body: writeUpload(await ownFiles(encoded)).body, encoding };
}

async function encodeReferences(
  args: Args,
  options: WalkOptions,
  encoding: Encoding,
): Promise<EncodedCall> {
  const taken = superjson === undefined ? snapshot(args) : args;
  const { encodeSuperjsonArguments } = superjson ?? (await loadSuperjson());
  // A call that came in superjson may have its files in it.
  const body = await encodeSuperjsonArguments(taken, options, encoding === "superjson");
  return { body, encoding: "superjson" };
}
