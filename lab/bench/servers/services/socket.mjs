// The limit: frames of JSON over one socket, all of a turn of the event loop in one write.
// node socket.mjs callee | node socket.mjs caller <port>

import { connect, createServer } from "node:net";
import { drive } from "./drive.mjs";

const [role, address] = process.argv.slice(2);

/** A frame: its length, a number for the call, and JSON. Returns the function that sends. */
function framed(socket, receive) {
  let rest = Buffer.alloc(0);
  let waiting = [];
  socket.setNoDelay(true);
  socket.on("data", (chunk) => {
    const bytes = rest.length > 0 ? Buffer.concat([rest, chunk]) : chunk;
    let at = 0;
    while (bytes.length - at >= 8 && bytes.length - at >= bytes.readUInt32LE(at)) {
      const length = bytes.readUInt32LE(at);
      const text = bytes.latin1Slice(at + 8, at + length);
      receive(bytes.readUInt32LE(at + 4), JSON.parse(text));
      at += length;
    }
    rest = bytes.subarray(at);
  });
  const flush = () => {
    const all = waiting;
    waiting = [];
    socket.write(all.length > 1 ? Buffer.concat(all) : all[0]);
  };
  return (id, value) => {
    const text = JSON.stringify(value);
    const frame = Buffer.allocUnsafe(8 + text.length);
    frame.writeUInt32LE(frame.length, 0);
    frame.writeUInt32LE(id, 4);
    frame.latin1Write(text, 8);
    if (waiting.push(frame) === 1) setImmediate(flush);
  };
}

if (role === "callee") {
  const server = createServer((socket) => {
    const send = framed(socket, (id, { a, b }) => send(id, a + b));
  });
  server.listen(0, "127.0.0.1", () => process.send({ address: String(server.address().port) }));
} else {
  const waiting = new Map();
  let last = 0;
  const send = framed(connect(Number(address), "127.0.0.1"), (id, value) => {
    waiting.get(id)(value);
    waiting.delete(id);
  });
  drive(
    (a, b) =>
      new Promise((resolve) => {
        const id = ++last;
        waiting.set(id, resolve);
        send(id, { a, b });
      }),
  );
}
