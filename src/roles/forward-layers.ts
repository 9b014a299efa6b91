// Middleware at a service that only passes calls on (§4.8). Bytes stay bytes as far as no layer looks at them.

import type { Args } from "../call.ts";
import { isCors } from "../cors.ts";
import { compose } from "../middleware.ts";
import type { Host, HttpResponse, IncomingResponse } from "../ports.ts";
import { headers, policyHeader } from "../protocol.ts";
import { OpaqueClasses } from "../serializer/classes.ts";
import type { ClassTable } from "../serializer/class-table.ts";
import type { Limits } from "../serializer/limits.ts";
import { encodeSerialized } from "../serializer/serialized.ts";
import { noteAnsweredError } from "../refusals.ts";
import { decodeReceived, prepareDecoding } from "../wire/decode-call.ts";
import { encodeResult } from "../wire/encode-result.ts";
import { decodeAnswer } from "../wire/decode-answer.ts";
import { errorOfText } from "../wire/plain-error.ts";
import { withClasses } from "../wire/remote-call.ts";
import { callOf, type IncomingCall, refuseCrossSite, withHeaders } from "../wire/rpc-door.ts";
import { changedCall } from "./changed-call.ts";
import { type Forwarded, joined, passedOn, relayed } from "./forward.ts";
import { LazyArguments } from "./lazy-arguments.ts";
import type { Application } from "./load-node.ts";
import type { Layers } from "./role.ts";

export interface ForwardLayersParts {
  readonly host: Host;
  readonly limits: Limits;
  readonly layers: Layers;
  /** Without it class instances pass unopened, and the values of a GET are text (decisions §5, gateway). */
  readonly application?: Application | undefined;
}

/** Sends the call as it came; or through the layers, which may change arguments, headers and result. */
export async function throughLayers(
  parts: ForwardLayersParts,
  incoming: IncomingCall,
  came: Forwarded,
  send: (call: IncomingCall, forwarded: Forwarded) => Promise<IncomingResponse>,
  refuse: (thrown: unknown) => Promise<HttpResponse>,
): Promise<HttpResponse> {
  // CORS is the door's work: it never looks at arguments or result.
  const layers = parts.layers.list.filter((layer) => !isCors(layer));
  if (layers.length === 0) return relayed(await send(incoming, came));
  // Before a layer runs, where it can be known here. Else the node refuses it, which is all the same to the caller.
  if (
    incoming.crossSite &&
    (await parts.application?.isSafe(incoming.fqn, incoming.version.toString())) === false
  )
    refuseCrossSite(incoming);
  const classes = parts.application?.classes ?? new OpaqueClasses();
  const read = await argumentsOf(parts, incoming, came, classes);
  const args = new LazyArguments(read);
  let answer: IncomingResponse | undefined;
  /** What `next` gave, while the answer's bytes still say it to this caller. */
  let given:
    | { readonly value: unknown }
    | { readonly error: unknown; readonly form: unknown }
    | undefined;
  const chain = compose(
    layers,
    async (call) => {
      const changed = args.touched
        ? await changedCall(incoming, came, args, read, classes)
        : undefined;
      const encoding = changed?.encoding ?? incoming.encoding;
      answer = await send(incoming, {
        ...(changed ?? came),
        headers: fieldsOf(incoming, call.headers, changed),
      });
      try {
        const { value } = await decodeAnswer(answer, {
          classes,
          onError: noteAnsweredError,
          ...(encoding === "plain" && { errorOfText }),
        });
        if (encoding === incoming.encoding) given = { value };
        return value;
      } catch (error) {
        if (encoding === incoming.encoding) given = { error, form: formOf(error, classes) };
        throw error;
      }
    },
    parts.host.log,
  );
  let response: HttpResponse;
  try {
    const value = await chain(callOf(incoming, args));
    response =
      untouched(answer, given, value) ??
      over(
        answer,
        await withClasses(classes, () => encodeResult(value, incoming.encoding, { classes })),
      );
  } catch (thrown) {
    // An error that no layer replaced or changed goes back as the bytes that came, its class and trace untouched.
    const same =
      given !== undefined &&
      "error" in given &&
      given.error === thrown &&
      given.form === formOf(thrown, classes);
    response = answer !== undefined && same ? relayed(answer) : over(answer, await refuse(thrown));
  }
  return withHeaders(response, incoming.headers.over(response.headers));
}

/** How to decode the arguments, once a layer looks at them. A Map's methods can't wait, so what takes a wait is done when it resolves. */
async function argumentsOf(
  parts: ForwardLayersParts,
  incoming: IncomingCall,
  came: Forwarded,
  classes: ClassTable,
): Promise<() => Args> {
  const { method, headers: fields } = incoming.request;
  const { fqn, version, query, trusted } = incoming;
  const received = { method, headers: fields, body: came.body };
  const { application, limits } = parts;
  const options = { classes, limits, trusted };
  let procedure: Awaited<ReturnType<Application["procedure"]>>;
  try {
    if (method === "GET" && query !== "")
      procedure = await application?.procedure(fqn, version.toString());
    await prepareDecoding(received, options);
  } catch (error) {
    // The call itself may still do without.
    return () => {
      throw error;
    };
  }
  return () => decodeReceived(received, query, procedure, options);
}

/** The request's headers as the layers left them; those that say how the body is to be read are the body's own. */
function fieldsOf(
  incoming: IncomingCall,
  left: ReadonlyMap<string, string>,
  changed: { encoding: string; contentType?: string } | undefined,
): Record<string, string> {
  const fields = joined(passedOn(Object.fromEntries(left), () => false));
  const came = joined(passedOn(incoming.request.headers, (name) => name === headers.encoding));
  for (const name of ["content-type", "content-encoding", headers.encoding]) {
    delete fields[name];
    if (came[name] !== undefined) fields[name] = came[name];
  }
  if (changed?.contentType !== undefined) {
    delete fields["content-encoding"];
    delete fields[headers.encoding];
    fields["content-type"] = changed.contentType;
    if (changed.encoding !== "plain") fields[headers.encoding] = changed.encoding;
  }
  return fields;
}

/** The answer as it came, if the layers gave back what they got. An object may have been changed inside: only its encoding would tell. */
function untouched(
  answer: IncomingResponse | undefined,
  given: object | undefined,
  value: unknown,
): HttpResponse | undefined {
  if (
    answer === undefined ||
    given === undefined ||
    !("value" in given) ||
    !Object.is(given.value, value)
  )
    return undefined;
  if (typeof value !== "object" || value === null) return relayed(answer);
  // Raw bytes: a Blob's media type is known from the answer alone.
  return value instanceof Uint8Array && answer.headers[headers.dataType] === "binary"
    ? { ...relayed(answer), body: value }
    : undefined;
}

/** What an error says, to see whether a layer changed it. */
function formOf(error: unknown, classes: ClassTable): unknown {
  try {
    return encodeSerialized(error, { classes });
  } catch {
    return undefined;
  }
}

// They speak of the body that came, or of the error that it was.
const ofTheBody = new Set([
  "content-type",
  "content-disposition",
  "content-encoding",
  headers.dataType,
  headers.encoding,
  headers.error,
  "retry-after",
  "allow",
]);

/** `made`, with what else the answer from behind said in its headers: cookies, the node's name. */
function over(answer: IncomingResponse | undefined, made: HttpResponse): HttpResponse {
  if (answer === undefined) return made;
  const kept = Object.fromEntries(
    Object.entries(relayed(answer).headers).filter(([name]) => !ofTheBody.has(name)),
  );
  // Its policies are ours, and what a layer behind has put beside them.
  const { [policyHeader]: policies } = kept;
  return {
    ...made,
    headers: {
      ...kept,
      ...made.headers,
      ...(policies !== undefined && { [policyHeader]: policies }),
    },
  };
}
