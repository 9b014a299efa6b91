// Turns a call from the console's form into one for `/rpc`, with the trust that a caller with the key has.

import type { CallFrom, HeaderFields, HttpRequest } from "../../../src/base/ports.ts";
import { consolePath, headers, isServiceHeader } from "../../../src/base/protocol.ts";
import { RequestWrapper } from "../calls/request-wrapper.ts";
import { withoutSessionCookie } from "./session-cookie.ts";

// Headers that the browser adds. Others, such as `authorization`, are the user's.
const pageHeaders = /^(?:sec-|origin$|referer$|access-control-)/;

export class SessionCall extends RequestWrapper {
  readonly #target: string;
  readonly #headers: HeaderFields;

  constructor(request: HttpRequest) {
    super(request);
    const { cookie: _, ...rest } = request.headers;
    const fields: Record<string, string | readonly string[] | undefined> = {};
    for (const [name, value] of Object.entries(rest))
      if (!pageHeaders.test(name) && (!isServiceHeader(name) || name === headers.encoding))
        fields[name] = value;
    const cookies = withoutSessionCookie(request.headers);
    if (cookies !== "") fields["cookie"] = cookies;
    this.#target = request.target.slice(consolePath.length);
    this.#headers = fields;
  }

  override get from(): CallFrom {
    return "trusted";
  }

  override get method(): string {
    return "POST";
  }

  override get target(): string {
    return this.#target;
  }

  override get headers(): HeaderFields {
    return this.#headers;
  }
}
