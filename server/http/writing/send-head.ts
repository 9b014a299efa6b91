// Sends the head of a message before its body.

import { OutgoingMessage } from "node:http";

/**
 * Sends the head now, even if middleware has wrapped the message's methods. Node's own `flushHeaders` writes it in
 * UTF-8, although header fields are Latin-1: every letter such as "é" would arrive as two.
 */
export function sendHead(message: OutgoingMessage): void {
  // A response of HTTP/2 isn't one, despite its type, and doesn't have the problem.
  const isOfNode: boolean = message instanceof OutgoingMessage;
  if (isOfNode) OutgoingMessage.prototype.write.call(message, "", "latin1");
  else message.flushHeaders();
}
