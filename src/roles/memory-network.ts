// Connects several roles in one process, without sockets. Roles can't tell it from another
// transport: `seamline dev` and the test kit run whole deployments on it.

import type { AbortNotice } from "../base/ports.ts";
import {
  type HttpRequest,
  type IncomingResponse,
  type Names,
  type OutgoingRequest,
  type Peer,
  TransportError,
} from "../base/ports.ts";
import { collected } from "../http/bodies.ts";
import { exchange, type IdleLimit } from "./memory-exchange.ts";
import type { Role } from "./pipeline/role.ts";

/** Addresses → roles. All other addresses refuse the connection. */
export interface MemoryNetwork extends Peer {
  /** By origin, without a trailing slash. No request reaches a role after its removal. */
  readonly roles: Map<string, Role>;
  readonly names: Names;
  close(): Promise<void>;
}

/** An answer with its body as text as well, for convenience. */
export interface TextResponse extends IncomingResponse {
  readonly text: string;
}

/** With `idle`, a stream is cut once it has stood still for that long. */
export function createMemoryNetwork(idle?: IdleLimit): MemoryNetwork {
  const roles = new Map<string, Role>();
  let closed = false;
  return {
    roles,
    names: memoryNames(),
    async send({ url, method, headers, body, signal, from }) {
      if (closed) throw new TransportError("This network is closed", false);
      // Keep the path as it was written, as a socket does: `URL` would normalize `/rpc/../nodes`.
      const end = url.indexOf("/", url.indexOf("//") + 2);
      const { origin } = new URL(end < 0 ? url : url.slice(0, end));
      const role = roles.get(origin);
      if (role === undefined) throw new TransportError(`${origin} refused the connection`, false);
      const target = end < 0 ? "/" : url.slice(end);
      // As over a socket: the other side checks this to see whether there is a body.
      const isStream = typeof body === "object" && !(body instanceof Uint8Array);
      const isSized = "content-length" in headers;
      const sent = isStream && !isSized ? { ...headers, "transfer-encoding": "chunked" } : headers;
      return await exchange(role, { method, target, headers: sent, body, signal, from }, idle);
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
  };
}

/** Sends one request to a role, as the HTTP adapter would, and collects the answer. */
export async function ask(
  role: Pick<Role, "handle">,
  method: string,
  target: string,
  headers: HttpRequest["headers"] = {},
  body: OutgoingRequest["body"] = "",
  signal?: AbortNotice,
): Promise<TextResponse> {
  const answer = await collected(exchange(role, { method, target, headers, body, signal }));
  return { ...answer, text: new TextDecoder().decode(answer.body) };
}
