// A caller that speaks HTTP/2, as browsers do.

import { readFileSync } from "node:fs";
import {
  type ClientHttp2Session,
  type ClientHttp2Stream,
  connect,
  type OutgoingHttpHeaders,
} from "node:http2";

import { onTestFinished } from "vitest";

import { createCertificates } from "./_certificates.ts";

export interface Http2Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly body: string;
}

/** A certificate for services of this machine, and its authority. */
export function certified(): { readonly cert: string; readonly key: string; readonly ca: string } {
  const certificates = createCertificates();
  return { ...certificates.sign("service"), ca: certificates.ca };
}

/** A connection, which closes with the test. */
export function openSession(url: string, ca: string): ClientHttp2Session {
  const session = connect(url, { ca: readFileSync(ca) });
  session.on("error", () => {});
  onTestFinished(() => session.destroy());
  return session;
}

/** Rejects if the answer breaks, or the stream is reset before it. */
export async function answerOf(stream: ClientHttp2Stream): Promise<Http2Answer> {
  return await new Promise((resolve, reject) => {
    let headers: Readonly<Record<string, unknown>> = {};
    let body = "";
    stream.on("response", (fields) => (headers = fields));
    stream.setEncoding("utf8").on("data", (chunk: string) => (body += chunk));
    stream.on("error", reject);
    stream.on("close", () => {
      const status = headers[":status"];
      if (stream.rstCode === 0 && typeof status === "number") resolve({ status, headers, body });
      else reject(new Error(`The stream was reset with ${stream.rstCode}`));
    });
  });
}

export async function ask(
  session: ClientHttp2Session,
  path: string,
  fields: OutgoingHttpHeaders = {},
  body?: string | Buffer,
): Promise<Http2Answer> {
  const stream = session.request(
    { ":path": path, ":method": body === undefined ? "GET" : "POST", ...fields },
    { endStream: body === undefined },
  );
  if (body !== undefined) stream.end(body);
  return await answerOf(stream);
}
