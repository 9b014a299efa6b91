// A request over HTTP/2: the same as one of HTTP/1.1, once its pseudo-header fields are translated.

import type { IncomingMessage } from "node:http";
import type { Http2ServerRequest } from "node:http2";

import { BadRequest } from "../../src/base/errors.ts";
import type { HeaderFields } from "../../src/base/ports.ts";
import type { CallerConnection } from "./connection/caller-connection.ts";
import { NodeRequest } from "./node-request.ts";

export class StreamRequest extends NodeRequest {
  readonly #address: string | undefined;
  readonly #headers: HeaderFields;

  /** `address` is kept, as the stream doesn't know it any more when its caller has left. */
  constructor(
    message: Http2ServerRequest,
    connection: CallerConnection,
    address: string | undefined,
    sayContinue: (() => void) | undefined,
  ) {
    super(asMessage(message), connection, sayContinue);
    this.#address = address;
    this.#headers = fieldsOf(message);
  }

  override get address(): string | undefined {
    return this.#address;
  }

  override get headers(): HeaderFields {
    return this.#headers;
  }
}

/**
 * Code for both versions uses Node's HTTP/2 messages as those of HTTP/1.1; Node's compatibility API is meant
 * for that.
 */
export function asMessage(message: Http2ServerRequest): IncomingMessage {
  return message as unknown as IncomingMessage;
}

function fieldsOf({ headers }: Http2ServerRequest): HeaderFields {
  const fields: Record<string, string | readonly string[] | undefined> = {};
  for (const name in headers) if (!name.startsWith(":")) fields[name] = headers[name];
  const authority = headers[":authority"];
  if (authority !== undefined) fields["host"] = authority;
  return fields;
}

/** The fields as HTTP/1.1 has them: names and values alternately, the authority as the one that names the host. */
export function rawFieldsOf({ rawHeaders }: Pick<Http2ServerRequest, "rawHeaders">): string[] {
  const fields: string[] = [];
  let authority: string | undefined;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at]!;
    const value = rawHeaders[at + 1]!;
    if (name === ":authority") fields.push("host", (authority = value));
    // The same one again; another one is a problem, see below.
    else if (!name.startsWith(":") && !(name === "host" && value === authority))
      fields.push(name, value);
  }
  return fields;
}

/** Services on the way could disagree about which of the two counts (RFC 9113, section 8.3.1). */
export function authorityProblem({
  headers: { ":authority": authority, host },
}: Pick<Http2ServerRequest, "headers">): BadRequest | undefined {
  if (authority === undefined || host === undefined || authority === host) return undefined;
  return new BadRequest("The request's authority and its Host field name different hosts");
}
