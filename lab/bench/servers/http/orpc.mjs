// oRPC on its handler for Node's own server.

import { createServer } from "node:http";
import { os } from "@orpc/server";
import { RPCHandler } from "@orpc/server/node";
import { layers, listen } from "../serve.mjs";

let base = os;
for (let layer = 0; layer < layers; layer++) base = base.use(async ({ next }) => await next());
const handler = new RPCHandler({
  add: base.handler(async ({ input: { a, b } }) => a + b),
  echo: base.handler(async ({ input: { value } }) => value),
});
const server = createServer(async (request, response) => {
  const { matched } = await handler.handle(request, response, { prefix: "/rpc" });
  if (!matched) response.writeHead(404).end();
});
listen(server, { body: (_, args) => JSON.stringify({ json: args }) });
