// Middleware at a service that only passes calls on (§4.8). Without a layer bytes stay bytes.

import type { Args } from "../call.ts";
import { CorsMiddleware } from "../cors.ts";
import { compose } from "../middleware.ts";
import type { Host, HttpRequest, HttpResponse, IncomingResponse } from "../ports.ts";
import { headers, versionParameter } from "../protocol.ts";
import { pathOf } from "../router.ts";
import type { ClassSource } from "../serializer/classes.ts";
import type { Limits } from "../serializer/limits.ts";
import { encodeArguments } from "../serializer/serialized.ts";
import { decodeArguments } from "../wire/decode-call.ts";
import { encodeResult } from "../wire/encode-result.ts";
import { decodeAnswer } from "../wire/decode-answer.ts";
import { callOf, type IncomingCall, withHeaders } from "../wire/rpc-door.ts";
import { type Forwarded, joined, passedOn, relayed } from "./forward.ts";
import type { Application } from "./load-node.ts";
import type { Layers } from "./role.ts";

export interface ForwardLayersParts {
  readonly host: Host;
  readonly limits: Limits;
  readonly layers: Layers;
  /** Without it class instances pass unopened, and the values of a GET are text (decisions §5, gateway). */
  readonly application?: (() => Promise<Application>) | undefined;
}

/** Sends the call as it came; or through the layers, which may change arguments, headers and result. */
export async function throughLayers(
  parts: ForwardLayersParts,
  incoming: IncomingCall,
  forwarded: Forwarded,
  send: (call: IncomingCall, forwarded: Forwarded) => Promise<IncomingResponse>,
): Promise<HttpResponse> {
  // CORS is the door's work: it never looks at arguments or result.
  const layers = parts.layers.list.filter((layer) => !(layer instanceof CorsMiddleware));
  if (layers.length === 0) return relayed(await send(incoming, forwarded));
  const application = await parts.application?.();
  const classes: ClassSource = application?.classes ?? "opaque";
  const options = { classes, limits: parts.limits, trusted: incoming.trusted };
  const procedure = application?.procedure(incoming.fqn, incoming.version.toString());
  const args = await decodeArguments(alreadyRead(incoming, forwarded.body), incoming.query, procedure, options);
  let answer: IncomingResponse | undefined;
  let failure: unknown;
  const chain = compose(
    layers,
    async (call) => {
      const fields = joined(passedOn(Object.fromEntries(call.headers), (name) => name === headers.encoding));
      answer = await send(incoming, { ...(await rewritten(incoming, call.args, classes)), headers: fields });
      try {
        return (await decodeAnswer(answer, { ...options, plain: incoming.encoding === "plain" })).value;
      } catch (thrown) {
        failure = thrown;
        throw thrown;
      }
    },
    parts.host.log,
  );
  let response: HttpResponse;
  try {
    response = await encodeResult(await chain(callOf(incoming, args)), incoming.encoding, { classes });
    const node = answer?.headers[headers.node];
    if (typeof node === "string") response = withHeaders(response, { [headers.node]: node });
  } catch (thrown) {
    // An error that no layer replaced goes back as the bytes that came, its class and trace untouched.
    if (answer === undefined || thrown !== failure) throw thrown;
    response = relayed(answer);
  }
  return withHeaders(response, Object.fromEntries(incoming.headers.response));
}

/** The request again, its body as it was read. */
function alreadyRead({ request }: IncomingCall, body: Uint8Array): HttpRequest {
  const { method, target, headers: fields, signal } = request;
  return { method, target, headers: fields, signal, readBody: async () => body };
}

/** The call with the arguments as the layers left them. */
async function rewritten(incoming: IncomingCall, args: Args, classes: ClassSource): Promise<Forwarded> {
  const { method, target } = incoming.request;
  if (method === "POST") {
    const body = incoming.encoding === "plain" ? JSON.stringify(Object.fromEntries(args)) : await encodeArguments(args, { classes });
    return { method, target, body: new TextEncoder().encode(body) };
  }
  const query = new URLSearchParams();
  const version = new URLSearchParams(incoming.query).get(versionParameter);
  if (version !== null) query.set(versionParameter, version);
  for (const [name, value] of args)
    for (const one of Array.isArray(value) ? value : [value]) query.append(name, one instanceof Date ? one.toISOString() : String(one));
  const text = query.toString();
  return { method, target: text === "" ? pathOf(target) : `${pathOf(target)}?${text}`, body: new Uint8Array() };
}
