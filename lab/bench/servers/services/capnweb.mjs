// Cap'n Web over a WebSocket.
// node capnweb.mjs callee | node capnweb.mjs caller <url>

import { newWebSocketRpcSession, RpcTarget } from "capnweb";
import { WebSocket, WebSocketServer } from "ws";
import { drive } from "./drive.mjs";

// Node 20 has none, and the library looks at the constants of the global one.
globalThis.WebSocket ??= WebSocket;

const [role, address] = process.argv.slice(2);

class Stock extends RpcTarget {
  add(a, b) {
    return a + b;
  }
}

if (role === "callee") {
  const server = new WebSocketServer({ port: 0, host: "127.0.0.1", perMessageDeflate: false });
  server.on("connection", (socket) => newWebSocketRpcSession(socket, new Stock()));
  server.on("listening", () =>
    process.send({ address: `ws://127.0.0.1:${server.address().port}` }),
  );
} else {
  const socket = new WebSocket(address, { perMessageDeflate: false });
  socket.on("open", () => {
    const stock = newWebSocketRpcSession(socket);
    drive(async (a, b) => await stock.add(a, b));
  });
}
