// Sends lines of JSON over a socket, as many as it is told, as fast as they are read.

import { once } from "node:events";
import { createServer } from "node:net";

const count = Number(process.argv[2]);
const text = process.argv[3];

const server = createServer(async (socket) => {
  for (let id = 0; id < count; id++)
    if (!socket.write(`${JSON.stringify({ id, text })}\n`)) await once(socket, "drain");
  socket.end();
});
server.listen(0, "127.0.0.1", () => {
  process.send?.({ port: /** @type {import("node:net").AddressInfo} */ (server.address()).port });
});
