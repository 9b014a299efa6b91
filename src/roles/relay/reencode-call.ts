// Encodes a call again if middleware has changed its arguments.

import type { Args } from "../../base/call.ts";
import { ValueNotSerializable } from "../../base/errors.ts";
import { mediaTypes, versionParameter } from "../../base/protocol.ts";
import { pathOf } from "../../http/router.ts";
import type { ClassTable } from "../../codec/class-table.ts";
import { encodeArguments } from "../../codec/serialized.ts";
import type { CallArguments } from "../../wire/decode-call.ts";
import type { Encoding } from "../../wire/encoding.ts";
import { withClasses } from "../../wire/outgoing/remote-codec.ts";
import type { Exchange } from "../../wire/exchange.ts";
import { encodeCall } from "../../wire/superjson.ts";
import type { Content } from "./attempt.ts";

/** A call to forward, and the encoding of its body and answer. */
export interface ReencodedCall extends Content<Uint8Array> {
  readonly encoding: Encoding;
  /** The content type of the body. */
  readonly contentType?: string;
}

/**
 * Returns `undefined` if the arguments are still those that `read` decodes. Throws
 * ValueNotSerializable with the path of a value that can't be sent.
 */
export async function reencodeCall(
  exchange: Exchange,
  received: CallArguments,
  args: Args,
  read: () => Args,
  classes: ClassTable,
): Promise<ReencodedCall | undefined> {
  const preferred = exchange.encoding === "plain" ? "serialized" : exchange.encoding;
  const { body: text, encoding: needed } = await withClasses(classes, new Map(args), (taken) =>
    encodeCall(taken, { classes }, preferred),
  );
  // Compare texts first, as most clients encode like this service. If they differ, decode and
  // encode the received ones for a fair comparison. In a plain body a serialized form is mere data,
  // so the same text may be another value.
  const sameText =
    typeof text === "string" &&
    (exchange.encoding !== "plain" || !text.includes('"serialized":true')) &&
    text === new TextDecoder().decode(received.body);
  if (sameText || text === (await encodeCall(read(), { classes }, preferred)).body)
    return undefined;
  const { method, target } = exchange.request;
  if (method === "GET" && classes.passOn !== undefined) {
    // Stay with GET: without the application's manifest, this service doesn't know the types.
    const query = queryOf(args, exchange);
    return {
      method,
      target: query === "" ? pathOf(target) : `${pathOf(target)}?${query}`,
      body: new Uint8Array(),
      encoding: exchange.encoding,
    };
  }
  if (exchange.encoding !== "plain") return await postOf(exchange, text, needed);
  if (needed === "serialized" && typeof text === "string") {
    const plain = JSON.stringify(Object.fromEntries(args));
    if (
      encodeArguments(new Map(Object.entries(JSON.parse(plain) as object)), { classes }).text ===
      text
    )
      return await postOf(exchange, plain, "plain");
  }
  // Middleware set a value that plain JSON can't carry: send it serialized. The caller still gets a
  // plain answer.
  if (classes.passOn === undefined) return await postOf(exchange, text, needed);
  throw new ValueNotSerializable(
    "args: middleware set a value that plain JSON can't carry; set 'repository' in this service's configuration",
  );
}

/** The arguments as a query string. Throws if text can't stand for a value. */
function queryOf(args: Args, exchange: Exchange): string {
  const query = new URLSearchParams();
  const version = new URLSearchParams(exchange.query).get(versionParameter);
  if (version !== null) query.set(versionParameter, version);
  for (const [name, value] of args) {
    // An empty list would add no parameter.
    if (Array.isArray(value) && value.length === 0) throw unfit(name, "query");
    for (const item of Array.isArray(value) ? (value as unknown[]) : [value])
      query.append(name, textOf(item) ?? fail(unfit(name, "query")));
  }
  return query.toString();
}

/** A POST of these arguments, for the version that the caller asked for. */
export async function postOf(
  { request, query }: Exchange,
  content: string | Blob,
  encoding: Encoding,
): Promise<ReencodedCall> {
  const version = new URLSearchParams(query).get(versionParameter);
  const path = pathOf(request.target);
  return {
    // A QUERY stays one: only the node knows whether its procedure is safe.
    method: request.method === "QUERY" ? "QUERY" : "POST",
    target:
      version === null ? path : `${path}?${new URLSearchParams([[versionParameter, version]])}`,
    ...(typeof content === "string"
      ? { body: new TextEncoder().encode(content), contentType: mediaTypes.json }
      : { body: new Uint8Array(await content.arrayBuffer()), contentType: content.type }),
    encoding,
  };
}

/** The text that stands for a value where its type isn't written; `undefined` without one. */
export function textOf(value: unknown): string | undefined {
  if (value instanceof Date && !Number.isNaN(value.getTime())) return value.toISOString();
  return ["string", "number", "boolean", "bigint"].includes(typeof value)
    ? String(value)
    : undefined;
}

/** The error for an argument that only a service which knows the parameters could pass on. */
export function unfit(name: string, carrier: "query" | "form"): ValueNotSerializable {
  return new ValueNotSerializable(
    `args.${name}: a ${carrier} can't carry it; set 'repository' in this service's configuration`,
  );
}

function fail(error: Error): never {
  throw error;
}
