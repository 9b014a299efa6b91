// The answer to a request for an upgrade that isn't granted, on its bare socket.

import { STATUS_CODES } from "node:http";
import type { Socket } from "node:net";

import type { HeaderFields } from "../../../src/base/ports.ts";

/**
 * Answers, and returns the new state of the socket. With `isHttp` the next request may come over it; otherwise it is
 * closed.
 */
export function refuseUpgrade(
  socket: Socket,
  status: number,
  headers: HeaderFields,
  body: string,
  isHttp = false,
): "http" | "closed" {
  const own = {
    "content-type": "text/plain; charset=utf-8",
    "content-length": String(Buffer.byteLength(body)),
    connection: isHttp ? "keep-alive" : "close",
  };
  const head = headOf(status, Object.assign({}, headers, own));
  socket.write(`${head}${body}`);
  if (isHttp) return "http";
  // The other side needn't read it, nor end the connection.
  socket.destroySoon();
  return "closed";
}

export function headOf(status: number, fields: HeaderFields): string {
  let head = `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n`;
  for (const [name, value] of Object.entries(fields)) head += `${name}: ${String(value)}\r\n`;
  return `${head}\r\n`;
}
