// Calls over HTTP/1.1 to a bare server, by the agent of `node:http` or by `fetch`.
// node http.mjs callee | node http.mjs agent <url> | node http.mjs fetch <url>

import { Agent, createServer, request } from "node:http";
import { drive } from "./drive.mjs";

const [role, address] = process.argv.slice(2);
const headers = { "content-type": "application/json" };

function callee() {
  const server = createServer(async (incoming, answer) => {
    let text = "";
    incoming.setEncoding("utf8");
    for await (const part of incoming) text += part;
    const { a, b } = JSON.parse(text);
    const body = JSON.stringify(a + b);
    answer.writeHead(200, { ...headers, "content-length": body.length }).end(body);
  });
  server.keepAliveTimeout = 60_000;
  server.listen(0, "127.0.0.1", () =>
    process.send({ address: `http://127.0.0.1:${server.address().port}` }),
  );
}

const ways = {
  callee,
  agent() {
    const agent = new Agent({ keepAlive: true });
    const { hostname, port } = new URL(address);
    const options = { agent, hostname, port, method: "POST", path: "/rpc/add" };
    drive(
      (a, b) =>
        new Promise((resolve, reject) => {
          const body = JSON.stringify({ a, b });
          const all = { ...headers, "content-length": body.length };
          const outgoing = request({ ...options, headers: all }, (answer) => {
            let text = "";
            answer.setEncoding("utf8").on("data", (part) => (text += part));
            answer.on("end", () => resolve(JSON.parse(text)));
          });
          outgoing.on("error", reject).end(body);
        }),
    );
  },
  fetch() {
    drive(async (a, b) => {
      const body = JSON.stringify({ a, b });
      return await (await fetch(`${address}/rpc/add`, { method: "POST", headers, body })).json();
    });
  },
};
ways[role]();
