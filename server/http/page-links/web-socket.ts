// A WebSocket of `ws` as the socket of a page's link. Loaded with the first link.

import type { IncomingMessage } from "node:http";
import type { Socket } from "node:net";

import { type WebSocket, WebSocketServer } from "ws";

import { pageLinkProtocol } from "../../../src/base/page-link.ts";
import type { Holder } from "../../host/held-memory.ts";
import { mostPageMessageBytes, mostReplyBytes } from "../connection/limits.ts";
import { closingMs } from "../connection/times.ts";
import type { PageSocket } from "./page-link.ts";

/** The receiver of its events. */
export interface PageSocketEvents {
  onText(text: string): void;
  onBinary(): void;
  onPong(): void;
  onDrain(): void;
  onClose(): void;
}

// No compression: it costs memory for each socket, and where a page's text and a secret are compressed together, sizes
// tell of the secret.
const server = new WebSocketServer({
  noServer: true,
  clientTracking: false,
  perMessageDeflate: false,
  maxPayload: mostPageMessageBytes,
  handleProtocols: () => pageLinkProtocol,
  // Below: a page that sends pings and reads nothing would fill its socket.
  autoPong: false,
});

/** Upgrades a socket. `open` is called once it is a WebSocket; a request that isn't valid is refused. */
export function upgradeToWebSocket(
  message: IncomingMessage,
  socket: Socket,
  head: Buffer,
  holder: Holder,
  open: (socket: PageSocket) => PageSocketEvents,
): void {
  server.handleUpgrade(message, socket, head, (webSocket) => {
    const own = new WsPageSocket(webSocket, socket, holder);
    own.listen(open(own));
  });
}

class WsPageSocket implements PageSocket {
  readonly #webSocket: WebSocket;
  readonly #socket: Socket;
  readonly #holder: Holder;
  #events: PageSocketEvents | undefined;
  #held = 0;

  constructor(webSocket: WebSocket, socket: Socket, holder: Holder) {
    this.#webSocket = webSocket;
    this.#socket = socket;
    this.#holder = holder;
  }

  listen(events: PageSocketEvents): void {
    this.#events = events;
    const webSocket = this.#webSocket;
    webSocket.on("message", (data: Buffer, isBinary) => {
      if (isBinary) events.onBinary();
      else events.onText(data.toString());
    });
    webSocket.on("ping", (data: Buffer) => {
      if (this.queued < mostReplyBytes) webSocket.pong(data);
    });
    webSocket.on("pong", () => events.onPong());
    webSocket.on("close", () => events.onClose());
    // It closes by itself, with a code that says why. A page that doesn't answer that is cut.
    webSocket.on("error", () => this.#cutLater());
    // A WebSocket has no half: its other end has gone.
    this.#socket.on("end", () => this.destroy());
  }

  get queued(): number {
    return this.#webSocket.bufferedAmount;
  }

  send(text: Uint8Array): void {
    this.#webSocket.send(text, { binary: false }, this.#left);
    this.#hold();
  }

  ping(): void {
    this.#webSocket.ping();
  }

  pause(): void {
    this.#webSocket.pause();
  }

  resume(): void {
    this.#webSocket.resume();
  }

  close(code: number, reason: string): void {
    this.#webSocket.resume();
    this.#webSocket.close(code, reason);
    this.#cutLater();
  }

  destroy(): void {
    this.#webSocket.terminate();
  }

  readonly #left = (): void => {
    this.#hold();
    this.#events?.onDrain();
  };

  /** Counts what waits in the socket. */
  #hold(): void {
    const { queued } = this;
    this.#holder.take(queued - this.#held);
    this.#held = queued;
  }

  #cutLater(): void {
    setTimeout(() => this.destroy(), closingMs).unref();
  }
}
