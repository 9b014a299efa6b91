import type { Args } from "../call.ts";
import type { Parameter } from "../manifest.ts";
import type { HeaderFields, HttpRequest } from "../ports.ts";
import type { ClassSource } from "../serializer/classes.ts";
import type { Limits } from "../serializer/limits.ts";
import type { Version } from "../version.ts";

/** How values travel in a call and its answer (§2.3). */
export type Encoding = "plain" | "serialized";

/** The encoding that a request asks for. Throws UnsupportedEncoding for one that is not known (decisions §3). */
export function readEncoding(headers: HeaderFields): Encoding {
  throw new Error(String(headers));
}

/** The version that a query string asks for (§9.4); `query` without the `?`. Throws InvalidVersionNumber or BadRequest. */
export function readVersion(query: string): Version {
  throw new Error(query);
}

/** The arguments of a GET or POST on the RPC door (§4.1, §4.2). Without a procedure (a gateway) the text of a query stays text. */
export function decodeArguments(
  request: HttpRequest,
  query: string,
  procedure: { readonly parameters: readonly Parameter[] } | undefined,
  options: { readonly classes: ClassSource; readonly limits: Limits; readonly trusted: boolean },
): Promise<Args> {
  throw new Error(String([request, query, procedure, options]));
}
