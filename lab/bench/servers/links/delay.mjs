// Passes bytes on after a while in each direction, as many as come: a long way without a narrow place.
// node delay.mjs <port> <ms of a round trip>

import { connect, createServer } from "node:net";

const [port, roundTrip] = process.argv.slice(2).map(Number);

/** @param {import("node:net").Socket} from @param {import("node:net").Socket} to */
function late(from, to) {
  from.on("data", (bytes) =>
    setTimeout(() => {
      if (to.writable) to.write(bytes);
      // Its reader is slower than what comes.
      if (to.writableLength > 4 * 1024 * 1024 && !from.isPaused()) {
        from.pause();
        to.once("drain", () => from.resume());
      }
    }, roundTrip / 2),
  );
  from.on("close", () => to.destroy()).on("error", () => {});
}

const server = createServer((socket) => {
  const other = connect(port, "127.0.0.1");
  for (const end of [socket, other]) end.setNoDelay(true);
  late(socket, other);
  late(other, socket);
});
server.listen(0, "127.0.0.1", () => process.send({ port: server.address().port }));
