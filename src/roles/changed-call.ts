// What goes on of a call whose arguments a layer may have changed (§2.7): the bytes that came, if they are still the same.

import type { Args } from "../call.ts";
import { ValueNotSerializable } from "../errors.ts";
import { mediaTypes, versionParameter } from "../protocol.ts";
import { pathOf } from "../router.ts";
import type { ClassTable } from "../serializer/class-table.ts";
import { encodeArguments } from "../serializer/serialized.ts";
import type { Encoding } from "../wire/decode-call.ts";
import { withClasses } from "../wire/remote-call.ts";
import type { IncomingCall } from "../wire/rpc-door.ts";
import { encodeCall } from "../wire/superjson.ts";
import type { Forwarded } from "./forward.ts";

/** A call as it goes on, and the encoding that its body and its answer have. */
export interface ChangedCall extends Forwarded {
  readonly encoding: Encoding;
  /** Of the body. */
  readonly contentType?: string;
}

/** `undefined` when the arguments are still what `read` gives of `came`. Throws ValueNotSerializable with the path for what can't be sent. */
export async function changedCall(
  incoming: IncomingCall,
  came: Forwarded,
  args: Args,
  read: () => Args,
  classes: ClassTable,
): Promise<ChangedCall | undefined> {
  const wanted = incoming.encoding === "plain" ? "serialized" : incoming.encoding;
  const { body: text, encoding: needed } = await withClasses(classes, () =>
    encodeCall(args, { classes }, wanted),
  );
  // Most bodies are written as this service writes them. One that is not is decoded once more, to compare like with like. In a plain body what
  // looks like a form is data, so that the same text is not the same value.
  const sameText =
    (incoming.encoding !== "plain" || !text.includes('"serialized":true')) &&
    text === new TextDecoder().decode(came.body);
  if (sameText || text === (await encodeCall(read(), { classes }, wanted)).body) return undefined;
  const { method, target } = incoming.request;
  if (method === "GET" && classes.passOn !== undefined) {
    // Without the application's manifest nobody here knows what is text and what a number.
    const query = queryOf(args, incoming);
    return {
      method,
      target: query === "" ? pathOf(target) : `${pathOf(target)}?${query}`,
      body: new Uint8Array(),
      encoding: incoming.encoding,
    };
  }
  const version = new URLSearchParams(incoming.query).get(versionParameter);
  const path =
    version === null
      ? pathOf(target)
      : `${pathOf(target)}?${new URLSearchParams([[versionParameter, version]])}`;
  const body = (content: string, encoding: Encoding): ChangedCall => ({
    method: "POST",
    target: path,
    body: new TextEncoder().encode(content),
    encoding,
    contentType: mediaTypes.json,
  });
  if (incoming.encoding !== "plain") return body(text, needed);
  if (needed === "serialized") {
    const plain = JSON.stringify(Object.fromEntries(args));
    if (
      (await encodeArguments(new Map(Object.entries(JSON.parse(plain) as object)), { classes })) ===
      text
    )
      return body(plain, "plain");
  }
  // A layer set a date, a map, an instance, a cycle: the procedure gets it as such, and the caller still a plain answer.
  if (classes.passOn === undefined) return body(text, needed);
  throw new ValueNotSerializable(
    "args: a layer set a value that plain JSON can't carry; name a 'repository' in this service's configuration",
  );
}

/** The arguments as a query, of texts and what a text stands for. */
function queryOf(args: Args, incoming: IncomingCall): string {
  const query = new URLSearchParams();
  const version = new URLSearchParams(incoming.query).get(versionParameter);
  if (version !== null) query.set(versionParameter, version);
  for (const [name, value] of args) {
    // An empty list would be no parameter at all.
    if (Array.isArray(value) && value.length === 0) throw unfit(name);
    for (const one of Array.isArray(value) ? (value as unknown[]) : [value])
      query.append(name, textOf(one) ?? fail(unfit(name)));
  }
  return query.toString();
}

function textOf(value: unknown): string | undefined {
  if (value instanceof Date && !Number.isNaN(value.getTime())) return value.toISOString();
  return ["string", "number", "boolean", "bigint"].includes(typeof value)
    ? String(value)
    : undefined;
}

function unfit(name: string): ValueNotSerializable {
  return new ValueNotSerializable(
    `args.${name}: a query can't carry it; name a 'repository' in this service's configuration`,
  );
}

function fail(error: Error): never {
  throw error;
}
