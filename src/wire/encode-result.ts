import type { HttpResponse } from "../ports.ts";
import type { ClassSource } from "../serializer/classes.ts";
import type { Encoding } from "./decode-call.ts";

/** The answer that carries a procedure's value (decisions §2, responses); a promise only when a Blob is in it. */
export function encodeResult(
  value: unknown,
  encoding: Encoding,
  options: { readonly classes: ClassSource; readonly stacks?: boolean },
): HttpResponse | Promise<HttpResponse> {
  throw new Error(String([value, encoding, options]));
}

/** The answer that carries what was thrown (§7): never throws itself. */
export function encodeError(
  thrown: unknown,
  encoding: Encoding,
  options: { readonly classes: ClassSource; readonly stacks: boolean },
): HttpResponse | Promise<HttpResponse> {
  throw new Error(String([thrown, encoding, options]));
}
