// A server behind nginx and HAProxy: the application's procedures over plain HTTP, the same ledger,
// and a stop as it should be: not healthy, served on for a second, then closed.

import { openSync, writeSync } from "node:fs";
import { createServer } from "node:http";

const { CHAOS_LEDGER = "", CHAOS_NODE = "", CHAOS_PORT = "" } = process.env;
const ledger = openSync(`${CHAOS_LEDGER}/${CHAOS_NODE}-${process.pid}`, "a");
let isLeaving = false;

const server = createServer((request, response) => {
  const { pathname, searchParams } = new URL(request.url ?? "/", "http://server");
  if (isLeaving) response.setHeader("connection", "close");
  if (pathname === "/health") return response.writeHead(isLeaving ? 503 : 200).end();
  request.resume().on("end", () => {
    writeSync(ledger, `${searchParams.get("id")} ${performance.timeOrigin + performance.now()}\n`);
    setTimeout(() => response.end(`${CHAOS_NODE} ${process.pid}`), Number(searchParams.get("ms")));
  });
});
server.keepAliveTimeout = 65_000;
server.listen(Number(CHAOS_PORT), "127.0.0.1", () => process.stdout.write("ready\n"));

process.once("SIGTERM", () => {
  isLeaving = true;
  setTimeout(() => {
    server.close(() => process.exit(0));
    server.closeIdleConnections();
  }, 1_000);
});
