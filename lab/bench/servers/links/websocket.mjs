// Seamline's frames over a WebSocket: a binary message for each write of the link.

import { WebSocket, WebSocketServer } from "ws";
import { linkOver } from "./link.mjs";

/** A WebSocket as the channel of a link. */
class WebSocketChannel {
  #socket;
  #raw;
  constructor(socket) {
    this.#socket = socket;
    this.#raw = socket._socket;
    this.#raw.setNoDelay(true);
  }
  get queued() {
    return this.#raw.writableLength;
  }
  send(bytes, isMore = false) {
    if (isMore) this.#raw.cork();
    this.#socket.send(bytes);
    if (!isMore) while (this.#raw.writableCorked > 0) this.#raw.uncork();
  }
  close() {
    this.#socket.close();
  }
  open({ onBytes, onDrain, onClose }) {
    this.#socket.on("message", onBytes);
    this.#raw.on("drain", onDrain);
    this.#socket.once("close", () => onClose());
  }
}

const options = { perMessageDeflate: false, maxPayload: 1024 * 1024 };

/** @param {object} [dialing] @returns {import("./end.mjs").Way} */
const way = (dialing = {}) => ({
  accept: (answer) =>
    new Promise((resolve) => {
      const server = new WebSocketServer({ ...options, host: "127.0.0.1", port: 0 });
      server.on(
        "connection",
        (socket) => void linkOver(new WebSocketChannel(socket), false, answer),
      );
      server.once("listening", () => resolve(server.address().port));
    }),
  dial: (port) =>
    new Promise((resolve) => {
      const socket = new WebSocket(`ws://127.0.0.1:${port}`, { ...options, ...dialing });
      socket.once("open", () => resolve(linkOver(new WebSocketChannel(socket), true, () => {})));
    }),
});

export const websocket = way();
/** `ws` masks nothing with a key of zeros. RFC 6455 wants a key that can't be guessed. */
export const unmasked = way({ generateMask: (mask) => mask.fill(0) });
