// From a request on the RPC door to arguments (§4.1, §4.2).

import type { Args } from "../call.ts";
import { BadRequest, UnsupportedEncoding } from "../errors.ts";
import type { Parameter } from "../manifest.ts";
import { convertQuery } from "../parameters.ts";
import type { HeaderFields, HttpRequest } from "../ports.ts";
import { headers, versionParameter } from "../protocol.ts";
import type { ClassSource } from "../serializer/classes.ts";
import type { Limits } from "../serializer/limits.ts";
import { decodeMembers } from "../serializer/serialized.ts";
import { defaultVersion, parseVersion, type Version } from "../version.ts";
import { loadedSuperjson, loadSuperjson } from "./superjson.ts";

/**
 * How values travel in a call and its answer (§2.3). Who names both reads both: the body is serialized, the answer too unless it has what only
 * superjson carries.
 */
export type Encoding = "plain" | "serialized" | "superjson" | "serialized, superjson";

/** The encoding that a request asks for. Throws UnsupportedEncoding for one that is not known (decisions §3). */
export function readEncoding(fields: HeaderFields): Encoding {
  const asked = textOf(fields[headers.encoding]).toLowerCase();
  if (asked === "") return "plain";
  if (asked === "serialized" || asked === "superjson") return asked;
  if (/^serialized\s*,\s*superjson$/.test(asked)) return "serialized, superjson";
  throw new UnsupportedEncoding(
    `Unsupported encoding '${asked.slice(0, 64)}' in ${headers.encoding}: known are 'serialized' and 'superjson'`,
  );
}

/** The version that a query string asks for (§9.4); `query` without the `?`. Throws InvalidVersionNumber or BadRequest. */
export function readVersion(query: string): Version {
  if (query === "") return defaultVersion;
  const [version = "", ...others] = new URLSearchParams(query).getAll(versionParameter);
  if (others.length > 0) throw new BadRequest(`The query parameter '${versionParameter}' was given more than once`);
  return parseVersion(version);
}

export interface DecodeCallOptions {
  readonly classes: ClassSource;
  readonly limits: Limits;
  readonly trusted: boolean;
}

/** The arguments of a GET or POST on the RPC door (§4.1, §4.2). Without a procedure (a gateway) the text of a query stays text. */
export async function decodeArguments(
  request: HttpRequest,
  query: string,
  procedure: { readonly parameters: readonly Parameter[] } | undefined,
  options: DecodeCallOptions,
): Promise<Args> {
  const { method, headers: fields } = request;
  // Refused before its body has come.
  if (method !== "GET" && !mayBeEmpty(fields)) checkBodyType(fields);
  const body = method === "GET" ? noBytes : await request.readBody(options.limits.body);
  const encoding = body.length > 0 ? readEncoding(fields) : "plain";
  if (encoding === "superjson") await loadSuperjson();
  if (encoding === "plain" || options.classes === "opaque" || options.classes.load === undefined)
    return decodeReceived({ method, headers: fields, body }, query, procedure, options);
  const text = decodeText(body);
  if (/"key"|"class"/.test(text)) await options.classes.load(text);
  return decodeReceived({ method, headers: fields, body, text }, query, procedure, options);
}

const noBytes = new Uint8Array();

/** A request whose body has come; `text` where it has been read already. */
interface Received {
  readonly method: string;
  readonly headers: HeaderFields;
  readonly body: Uint8Array;
  readonly text?: string;
}

/** As {@link decodeArguments}, at once, of a request whose body has come; of one in superjson after {@link loadSuperjson}. */
export function decodeReceived(
  { method, headers: fields, body, text: read }: Received,
  query: string,
  procedure: { readonly parameters: readonly Parameter[] } | undefined,
  options: DecodeCallOptions,
): Args {
  if (method === "GET") {
    // The version is no argument, even for a procedure that has a parameter of this name (§4.1).
    const given = [...new URLSearchParams(query)].filter(([name]) => name !== versionParameter);
    return convertQuery(procedure?.parameters ?? [], given, options.limits);
  }
  if (body.length === 0 && mayBeEmpty(fields)) return new Map();
  checkBodyType(fields);
  const text = read ?? decodeText(body);
  if (text === "") return new Map();
  const encoding = readEncoding(fields);
  return encoding === "superjson"
    ? loadedSuperjson().decodeSuperjsonMembers(text, options)
    : decodeMembers(text, { ...options, path: "args", plain: encoding === "plain" });
}

/** An empty body is `{}` whatever its type says. */
function mayBeEmpty(fields: HeaderFields): boolean {
  return !(Number(textOf(fields["content-length"])) > 0);
}

function checkBodyType(fields: HeaderFields): void {
  if (!/^application\/json\s*(;|$)/i.test(textOf(fields["content-type"])))
    throw new UnsupportedEncoding("A call's body must have the content type application/json");
  const packed = textOf(fields["content-encoding"]);
  if (packed !== "" && packed !== "identity") throw new UnsupportedEncoding(`Unsupported content encoding '${packed.slice(0, 64)}'`);
}

function decodeText(body: Uint8Array): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(body);
  } catch (cause) {
    throw new BadRequest("The body is not UTF-8", { cause });
  }
}

function textOf(field: string | readonly string[] | undefined): string {
  return typeof field === "string" ? field.trim() : (field?.join() ?? "");
}
