// A bare proxy of `node:http` and its agent, without anything else that proxies must do.

import { Agent, createServer, request } from "node:http";
import { listen } from "../serve.mjs";

const { hostname, port } = new URL(process.argv[2]);
const agent = new Agent({ keepAlive: true });

const server = createServer((incoming, answer) => {
  const { method, url: path, headers } = incoming;
  const outgoing = request({ agent, hostname, port, method, path, headers }, (response) => {
    answer.writeHead(response.statusCode, response.headers);
    response.pipe(answer);
  });
  outgoing.on("error", () => answer.destroy());
  incoming.pipe(outgoing);
});
listen(server);
