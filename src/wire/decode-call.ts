// From a request on the RPC door to arguments (§4.1, §4.2).

import type { Args } from "../call.ts";
import { BadRequest, UnsupportedEncoding } from "../errors.ts";
import type { Parameter } from "../manifest.ts";
import { convertQuery } from "../parameters.ts";
import type { HeaderFields, HttpRequest } from "../ports.ts";
import { headers, versionParameter } from "../protocol.ts";
import type { ClassTable } from "../serializer/class-table.ts";
import type { Limits } from "../serializer/limits.ts";
import { loadNamed } from "../serializer/named-classes.ts";
import { decodeMembers } from "../serializer/serialized.ts";
import { parseText } from "../serializer/text.ts";
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
  if (others.length > 0)
    throw new BadRequest(`The query parameter '${versionParameter}' was given more than once`);
  return parseVersion(version);
}

export interface DecodeCallOptions {
  readonly classes: ClassTable;
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
  const received = { method, headers: fields, body };
  return decodeReceived(
    received,
    query,
    procedure,
    options,
    await prepareDecoding(received, options),
  );
}

const noBytes = new Uint8Array();

/** A request whose body has come. */
interface Received {
  readonly method: string;
  readonly headers: HeaderFields;
  readonly body: Uint8Array;
}

/**
 * Loads what {@link decodeReceived} can't wait for: superjson, and the classes that the body names. Gives the body as far as it was read for
 * that. Throws as {@link decodeArguments}.
 */
export async function prepareDecoding(
  received: Received,
  { classes, limits }: DecodeCallOptions,
): Promise<ReadBody | undefined> {
  if (received.method === "GET" || received.body.length === 0) return undefined;
  const encoding = readEncoding(received.headers);
  if (encoding === "superjson") await loadSuperjson();
  if (encoding === "plain" || classes.load === undefined) return undefined;
  const body = readBody(received, limits);
  if (body !== undefined) await loadNamed(body.tree, classes);
  return body;
}

/** As {@link decodeArguments}, at once, of a request whose body has come, after {@link prepareDecoding}. The body read is changed. */
export function decodeReceived(
  received: Received,
  query: string,
  procedure: { readonly parameters: readonly Parameter[] } | undefined,
  options: DecodeCallOptions,
  read?: ReadBody,
): Args {
  const { method, headers: fields } = received;
  // The version is no argument, even for a procedure that has a parameter of this name (§4.1).
  const given = (): [string, string][] =>
    [...new URLSearchParams(query)].filter(([name]) => name !== versionParameter);
  if (method === "GET") return convertQuery(procedure?.parameters ?? [], given(), options.limits);
  // Chosen: beyond the version nobody reads what stands in the query of a POST, but it is counted. A shorter one can't hold too many.
  if (query.length > options.limits.query) convertQuery([], given(), options.limits);
  const body = read ?? readBody(received, options.limits);
  if (body === undefined) return new Map();
  const encoding = readEncoding(fields);
  return encoding === "superjson"
    ? loadedSuperjson().decodeSuperjsonMembers(body.text, options, body.tree)
    : decodeMembers(
        body.text,
        { ...options, path: "args", plain: encoding === "plain" },
        body.tree,
      );
}

/** The text of a body, and what `JSON.parse` makes of it. */
interface ReadBody {
  readonly text: string;
  readonly tree: unknown;
}

/** `undefined` for one that is empty. */
function readBody({ headers: fields, body }: Received, limits: Limits): ReadBody | undefined {
  if (body.length === 0 && mayBeEmpty(fields)) return undefined;
  checkBodyType(fields);
  const text = decodeText(body);
  return text === "" ? undefined : { text, tree: parseText(text, limits) };
}

/** An empty body is `{}` whatever its type says. */
function mayBeEmpty(fields: HeaderFields): boolean {
  return !(Number(textOf(fields["content-length"])) > 0);
}

function checkBodyType(fields: HeaderFields): void {
  if (!/^application\/json\s*(;|$)/i.test(textOf(fields["content-type"])))
    throw new UnsupportedEncoding("A call's body must have the content type application/json");
  const packed = textOf(fields["content-encoding"]);
  if (packed !== "" && packed !== "identity")
    throw new UnsupportedEncoding(`Unsupported content encoding '${packed.slice(0, 64)}'`);
}

function decodeText(body: Uint8Array): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(body);
  } catch {
    throw new BadRequest("The body is not UTF-8");
  }
}

function textOf(field: string | readonly string[] | undefined): string {
  return typeof field === "string" ? field.trim() : (field?.join() ?? "");
}
