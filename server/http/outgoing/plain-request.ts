// Requests by node:http(s): the first ones of a service, control requests, and those with a streamed
// body, whose head leaves at once. undici holds it back until the first chunk, so a handler that
// answers before it reads would have to wait for its caller.

import type { Agent as HttpAgent, ClientRequest, IncomingMessage, request } from "node:http";
import type { Dispatcher } from "undici";

import type { OutgoingRequest } from "../../../src/base/ports.ts";
import { sendHead } from "../writing/send-head.ts";
import { drained } from "../writing/slices.ts";
import type { Exchange } from "./exchange.ts";
import { whenUnconnected } from "./quick-agent.ts";

/** What sends the requests of one scheme. */
export interface Sender {
  readonly request: typeof request;
  readonly agent: HttpAgent;
  /** After how many ms an address that doesn't answer counts as silent. */
  readonly connectMs: number;
  readonly maxHeaderSize: number;
}

export interface PlainParts {
  readonly origin: string;
  readonly path: string;
  readonly method: string;
  readonly headers: NonNullable<OutgoingRequest["headers"]>;
  readonly body: AsyncIterable<Uint8Array> | Uint8Array | string | undefined;
}

/** Sends the request, and reports its events to `exchange`. */
export function sendRequest(
  { request: open, agent, connectMs, maxHeaderSize }: Sender,
  { origin, path, method, headers, body }: PlainParts,
  exchange: Exchange,
): void {
  const isWhole = body === undefined || typeof body === "string" || body instanceof Uint8Array;
  // Without a length, Node frames streams of some methods only.
  const framing =
    isWhole || "content-length" in headers ? undefined : { "transfer-encoding": "chunked" };
  let call: ClientRequest;
  try {
    const fields = framing === undefined ? headers : { ...headers, ...framing };
    call = open(origin, { agent, path, method, maxHeaderSize, headers: fields });
  } catch (error) {
    return exchange.onResponseError(undefined, error as Error);
  }
  const controller = new CallController(call);
  let isOver = false;
  const fail = (error: Error): void => {
    if (isOver) return;
    isOver = true;
    call.destroy();
    exchange.onResponseError(controller, error);
  };
  call.on("error", fail);
  // Node would drop the connection without a word.
  call.once("upgrade", (answer, socket) => {
    socket.destroy();
    exchange.onResponseStart(controller, answer.statusCode ?? 0, fieldsOf(answer));
  });
  call.once("response", (answer) => {
    controller.answer = answer;
    exchange.onResponseStart(controller, answer.statusCode ?? 0, fieldsOf(answer));
    answer.on("data", (chunk: Buffer) => exchange.onResponseData(controller, chunk));
    answer.once("error", fail);
    answer.once("end", () => {
      if (isOver) return;
      isOver = true;
      // Nobody reads the rest of the request any more.
      if (!call.writableFinished) call.destroy();
      exchange.onResponseEnd();
    });
  });
  whenConnected(call, connectMs, () => {
    exchange.onRequestStart(controller);
    if (call.destroyed) return;
    // Node would write the head in the encoding of a text that follows it.
    if (isWhole) call.end(typeof body === "string" ? Buffer.from(body) : body);
    else writeBody(call, body).catch(fail);
  });
}

class CallController implements Dispatcher.DispatchController {
  readonly #call: ClientRequest;
  answer: IncomingMessage | undefined;
  paused = false;
  reason: Error | null = null;

  constructor(call: ClientRequest) {
    this.#call = call;
  }

  get aborted(): boolean {
    return this.reason !== null;
  }

  abort(reason: Error): void {
    this.reason ??= reason;
    this.#call.destroy(reason);
  }

  pause(): void {
    this.paused = true;
    this.answer?.pause();
  }

  resume(): void {
    this.paused = false;
    this.answer?.resume();
  }
}

/** Calls `begin` once the request has a connection; fails one that takes too long to open. */
function whenConnected(call: ClientRequest, connectMs: number, begin: () => void): void {
  call.once("socket", (socket) => {
    if (socket.destroyed) return; // The name has no address that may be asked.
    if (!socket.connecting) return begin();
    const cancel = whenUnconnected(connectMs, () =>
      call.destroy(Object.assign(new Error("no connection in time"), { code: "ETIMEDOUT" })),
    );
    call.once("close", cancel);
    socket.once("encrypted" in socket ? "secureConnect" : "connect", () => {
      cancel();
      if (!call.destroyed) begin();
    });
  });
}

async function writeBody(call: ClientRequest, body: AsyncIterable<Uint8Array>): Promise<void> {
  // If the first chunk is here already, one packet has both.
  const head = setImmediate(() => sendHead(call));
  const length = call.getHeader("content-length");
  let written = 0;
  try {
    for await (const chunk of body) {
      if (call.destroyed) return;
      written += chunk.length;
      if (length !== undefined && written > Number(length)) break;
      if (chunk.length > 0 && !call.write(chunk)) await drained(call);
    }
  } finally {
    clearImmediate(head);
  }
  // The other service would wait for the rest, or take the excess for another request.
  if (length !== undefined && written !== Number(length))
    throw new Error(`A request of ${String(length)} bytes has ${written}`);
  call.end();
}

/** Fields by name, with a list for one that was sent more than once. */
function fieldsOf({ headersDistinct }: IncomingMessage): Record<string, string | string[]> {
  const fields: Record<string, string | string[]> = {};
  for (const [name, values = []] of Object.entries(headersDistinct))
    fields[name] = values.length === 1 ? values[0]! : values;
  return fields;
}
