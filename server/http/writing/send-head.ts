// Sends the head of a message before its body.

import { OutgoingMessage } from "node:http";

/**
 * Sends the head now, whatever wraps the message's methods. Node's own `flushHeaders` writes it in
 * UTF-8, although header fields are Latin-1: every letter such as "é" would arrive as two.
 */
export function sendHead(message: OutgoingMessage): void {
  const { write } = OutgoingMessage.prototype;
  // A response of HTTP/2 isn't of Node's class, whatever its type says.
  if (Object.getPrototypeOf(message) instanceof OutgoingMessage) write.call(message, "", "latin1");
  else message.flushHeaders();
}
