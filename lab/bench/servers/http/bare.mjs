// The limit: `node:http`, a `switch` and JSON.

import { createServer } from "node:http";
import { layers, listen } from "../serve.mjs";

const procedures = {
  "/rpc/add": async ({ a, b }) => a + b,
  "/rpc/echo": async ({ value }) => value,
};

/** Calls through two functions that do nothing. */
const layered = (handle) => async (args) => {
  const inner = async () => await handle(args);
  const next = async () => await inner();
  return await next();
};

const server = createServer((request, response) => {
  const handle = procedures[request.url];
  if (request.method !== "POST" || handle === undefined) {
    response.writeHead(404).end();
    return;
  }
  const chunks = [];
  request.on("data", (chunk) => chunks.push(chunk));
  request.on("end", async () => {
    const text = chunks.length === 1 ? chunks[0].toString() : Buffer.concat(chunks).toString();
    const result = await (layers > 0 ? layered(handle) : handle)(JSON.parse(text));
    const body = JSON.stringify(result);
    response
      .writeHead(200, {
        "content-type": "application/json",
        "content-length": Buffer.byteLength(body),
      })
      .end(body);
  });
});
listen(server);
