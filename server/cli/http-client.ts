// Requests of commands: they are callers outside, who speak HTTP.

import { type IncomingMessage, request as requestHttp } from "node:http";
import { request as requestHttps } from "node:https";

import type { IncomingResponse } from "../../src/base/ports.ts";
import { targetOf } from "../../src/http/router.ts";
import { type Progress, transportFailure } from "../http/transport-failure.ts";

export interface ClientRequest {
  /** Absolute. */
  readonly url: string;
  readonly method: "GET" | "POST";
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
}

export interface ClientOptions {
  readonly signal: AbortSignal;
  /** Certificate authorities of https addresses (PEM) [those that Node trusts]. */
  readonly authorities?: readonly string[] | undefined;
}

/** More than an answer may have whose limits are the ones that we ship. */
const mostAnswerBytes = 64 * 1024 * 1024;

/** Resolves with the whole answer. Rejects with `TransportError`, or with the signal's reason. */
export function send(
  { url, method, headers, body }: ClientRequest,
  { signal, authorities }: ClientOptions,
): Promise<IncomingResponse> {
  const { origin, protocol } = new URL(url);
  return new Promise((resolve, reject) => {
    let progress: Progress = "waiting";
    const fail = (error: Error): void =>
      reject(signal.aborted ? (signal.reason as Error) : transportFailure(error, origin, progress));
    const request = (protocol === "https:" ? requestHttps : requestHttp)(origin, {
      // As it was written: `URL` would resolve `/rpc/../nodes` to another endpoint.
      path: targetOf(url),
      method,
      headers,
      signal,
      agent: false,
      ...(authorities !== undefined && { ca: [...authorities] }),
    });
    request.on("error", fail);
    request.on("socket", (socket) => {
      socket.once("encrypted" in socket ? "secureConnect" : "connect", () => (progress = "sent"));
    });
    request.on("response", (answer) => {
      progress = "answered";
      wholeOf(answer).then(resolve, fail);
    });
    request.end(body);
  });
}

async function wholeOf(answer: IncomingMessage): Promise<IncomingResponse> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of answer as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > mostAnswerBytes) throw new Error("The answer is too large");
    chunks.push(chunk);
  }
  return { status: answer.statusCode ?? 0, headers: answer.headers, body: Buffer.concat(chunks) };
}
