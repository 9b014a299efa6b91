// Connects several roles in one process, without sockets. Roles can't tell it from another
// transport: `seamline dev` and the test kit run whole deployments on it.

import { PayloadTooLarge } from "../base/errors.ts";
import {
  type HttpRequest,
  type HttpResponse,
  type IncomingResponse,
  type Names,
  type Transport,
  TransportError,
} from "../base/ports.ts";
import type { Role } from "./role.ts";

/** Addresses → roles. All other addresses refuse the connection. */
export interface MemoryNetwork extends Transport {
  /** By origin, without a trailing slash. No request reaches a role after its removal. */
  readonly roles: Map<string, Role>;
  readonly names: Names;
}

/** An answer with its body as text as well, for convenience. */
export interface TextResponse extends IncomingResponse {
  readonly text: string;
}

export function createMemoryNetwork(): MemoryNetwork {
  const roles = new Map<string, Role>();
  let closed = false;
  return {
    roles,
    names: memoryNames(),
    async send({ url, method, headers, body, signal }) {
      if (closed) throw new TransportError("This network is closed", false);
      signal?.throwIfAborted();
      // Keep the path as it was written, as a socket does: `URL` would normalize `/rpc/../nodes`.
      const end = url.indexOf("/", url.indexOf("//") + 2);
      const { origin } = new URL(end < 0 ? url : url.slice(0, end));
      const role = roles.get(origin);
      if (role === undefined) throw new TransportError(`${origin} refused the connection`, false);
      const answered = ask(role, method, end < 0 ? "/" : url.slice(end), headers, body, signal);
      return signal === undefined ? await answered : await unlessAborted(answered, signal);
    },
    async close() {
      closed = true;
    },
  };
}

/** Gives each host name an address of its own, from the range for private networks. */
export function memoryNames(): Names {
  const addresses = new Map<string, string>();
  return {
    async resolve(host) {
      const address = addresses.get(host) ?? `fd00::${(addresses.size + 1).toString(16)}`;
      addresses.set(host, address);
      return [address];
    },
    own: () => [],
  };
}

/** Sends one request to a role, as the HTTP adapter would, and collects the answer. */
export async function ask(
  role: Pick<Role, "handle">,
  method: string,
  target: string,
  headers: HttpRequest["headers"] = {},
  body: Uint8Array | string | Blob = new Uint8Array(),
  signal: AbortSignal = new AbortController().signal,
): Promise<TextResponse> {
  const bytes =
    typeof body === "string"
      ? new TextEncoder().encode(body)
      : body instanceof Blob
        ? new Uint8Array(await body.arrayBuffer())
        : body;
  const readBody = async (limit: number): Promise<Uint8Array> => {
    if (bytes.length > limit) throw new PayloadTooLarge(`The body has more than ${limit} bytes`);
    return bytes;
  };
  const response = await role.handle({ method, target, scheme: "http", headers, readBody, signal });
  const answer = await collected(response.body);
  return {
    status: response.status,
    headers: response.headers,
    body: answer,
    text: new TextDecoder().decode(answer),
  };
}

/** Rejects as soon as the signal aborts, whatever the other side does. */
function unlessAborted<T>(answered: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = (): void => reject(signal.reason as Error);
    signal.addEventListener("abort", abort, { once: true });
    void answered.then(resolve, reject).finally(() => signal.removeEventListener("abort", abort));
  });
}

async function collected(body: HttpResponse["body"]): Promise<Uint8Array> {
  if (body === undefined) return new Uint8Array();
  if (typeof body === "string") return new TextEncoder().encode(body);
  if (body instanceof Uint8Array) return body;
  const chunks: Uint8Array[] = [];
  for await (const chunk of body) chunks.push(chunk);
  return new Uint8Array(await new Blob(chunks as BlobPart[]).arrayBuffer());
}
