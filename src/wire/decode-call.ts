// From a request for a procedure to the call's arguments.

import type { Args } from "../base/call.ts";
import { BadRequest, UnsupportedEncoding } from "../base/errors.ts";
import type { Parameter } from "../base/manifest.ts";
import { convertFields, convertQuery } from "../runtime/parameters.ts";
import type { HeaderFields } from "../base/ports.ts";
import { versionParameter } from "../base/protocol.ts";
import type { ClassTable } from "../codec/class-table.ts";
import type { Limits } from "../base/limits.ts";
import { loadNamed } from "../codec/named-classes.ts";
import { parseMultipart, type Part, textOf } from "../codec/multipart/parse-multipart.ts";
import { argumentsText, fieldsOf, PartReader, refuseParts } from "../codec/multipart/read-parts.ts";
import { decodeMembers } from "../codec/serialized.ts";
import { type Parsed, parseText } from "../codec/values/text.ts";
import { bodyLimit, checkBodyType, isMultipart, mayBeEmpty } from "./body-type.ts";
import { type Encoding, headerText } from "./encoding.ts";
import type { Exchange } from "./exchange.ts";
import { loadedSuperjson, loadSuperjson } from "./superjson.ts";

export interface DecodeCallOptions {
  readonly classes: ClassTable;
  readonly limits: Limits;
  readonly trusted: boolean;
  /** Encoding of the body. A query has none. */
  readonly encoding: Encoding;
}

const noBytes = new Uint8Array();

/**
 * Reads the body of a GET or POST; nothing to wait for if it can't have one. Throws or rejects with
 * what is wrong with its type or size.
 */
export function receiveBody(
  exchange: Pick<Exchange, "request" | "wholeBody">,
  limits: Limits,
): Uint8Array | Promise<Uint8Array> {
  const { method, headers: fields } = exchange.request;
  if (method === "GET") return noBytes;
  // Refuse a wrong type before the body arrives.
  if (!mayBeEmpty(fields)) checkBodyType(fields);
  return exchange.wholeBody(bodyLimit(fields, limits));
}

/** A request whose body has arrived. */
export interface ReceivedRequest {
  readonly method: string;
  readonly headers: HeaderFields;
  readonly body: Uint8Array;
  /** Of a multipart body, once it has been parsed. */
  parts?: readonly Part[];
}

/**
 * Loads what {@link decodeReceived} needs and can't wait for: superjson, and the classes that the
 * body names. Returns the body if it had to be parsed for that, and no promise if there is nothing
 * to load. Throws as {@link decodeReceived}.
 */
export function prepareDecoding(
  received: ReceivedRequest,
  options: DecodeCallOptions,
): Promise<Parsed | undefined> | undefined {
  const { classes, encoding } = options;
  if (encoding === "plain" || received.method === "GET" || received.body.length === 0)
    return undefined;
  return encoding === "superjson" || classes.load !== undefined
    ? loadForDecoding(received, options)
    : undefined;
}

async function loadForDecoding(
  received: ReceivedRequest,
  options: DecodeCallOptions,
): Promise<Parsed | undefined> {
  const { classes, encoding } = options;
  if (encoding === "superjson") await loadSuperjson();
  if (classes.load === undefined) return undefined;
  const body = parseBody(received, options);
  // Without forms, only superjson can name a class.
  if (body !== undefined && (body.hasForms || encoding === "superjson"))
    await loadNamed(body.tree, classes);
  return body;
}

/**
 * The arguments of a GET or POST. Without a procedure (in a gateway) the values of a query stay
 * text. Call {@link prepareDecoding} first. Changes the tree of `parsed`.
 */
export function decodeReceived(
  received: ReceivedRequest,
  query: string,
  procedure: { readonly parameters: readonly Parameter[] } | undefined,
  options: DecodeCallOptions,
  parsed?: Parsed,
): Args {
  const { limits, encoding } = options;
  // The version is not an argument, even if the procedure has a parameter of that name.
  const queryValues = (): [string, string][] =>
    [...new URLSearchParams(query)].filter(([name]) => name !== versionParameter);
  if (received.method === "GET")
    return convertQuery(procedure?.parameters ?? [], queryValues(), limits);
  // Nothing but the version is read from the query of a POST, but its parameters are counted. A
  // query that is shorter than the limit can't have too many.
  if (query.length > limits.maxQueryParameters) convertQuery([], queryValues(), limits);
  const body = parsed ?? parseBody(received, options);
  if (body === undefined)
    return isMultipart(received.headers)
      ? convertFields(
          procedure?.parameters ?? [],
          fieldsOf(partsOf(received, limits), limits),
          limits,
        )
      : new Map();
  if (received.parts !== undefined) return decodeUpload(received.parts, body, options);
  return encoding === "superjson"
    ? loadedSuperjson().decodeSuperjsonMembers(body, options)
    : decodeMembers(body, {
        classes: options.classes,
        limits,
        trusted: options.trusted,
        path: "args",
        plain: encoding === "plain",
        files: refuseParts,
      });
}

/** The arguments of a multipart call in the serialized encoding. */
function decodeUpload(parts: readonly Part[], body: Parsed, options: DecodeCallOptions): Args {
  const files = new PartReader(parts);
  const args = decodeMembers(body, { path: "args", files: files.read, ...options });
  // Instances that this service doesn't open may hold forms, too.
  if (options.classes.passOn === undefined) files.finish();
  return args;
}

function partsOf(received: ReceivedRequest, limits: Limits): readonly Part[] {
  if (received.body.length === 0) return [];
  checkBodyType(received.headers);
  return (received.parts ??= parseMultipart(
    received.body,
    headerText(received.headers["content-type"]),
    limits,
  ));
}

/** `undefined` for an empty body, and for a form that isn't in an encoding of ours. */
function parseBody(
  received: ReceivedRequest,
  { encoding, limits }: Pick<DecodeCallOptions, "encoding" | "limits">,
): Parsed | undefined {
  const { headers: fields, body } = received;
  if (body.length === 0 && mayBeEmpty(fields)) return undefined;
  checkBodyType(fields);
  if (isMultipart(fields)) {
    if (encoding === "plain") return undefined;
    if (encoding === "superjson")
      throw new UnsupportedEncoding("A multipart call is in the serialized encoding, or in none");
    const text = argumentsText(partsOf(received, limits), limits);
    return parseText(text, limits);
  }
  const text = textOf(body, () => new BadRequest("The body is not UTF-8"));
  return text === "" ? undefined : parseText(text, limits);
}
