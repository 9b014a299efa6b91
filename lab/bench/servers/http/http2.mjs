// HTTP/2 with nothing but `node:http2`, and `add`: what twenty requests cost a page whatever answers them.
// node http2.mjs <key> <certificate>

import { createSecureServer } from "node:http2";
import { readFileSync } from "node:fs";

const [key, cert] = process.argv.slice(2).map((path) => readFileSync(path));
const json = { ":status": 200, "content-type": "application/json" };

const server = createSecureServer({ key, cert });
server.on("stream", (stream, head) => {
  if (head[":path"] !== "/rpc/add") {
    stream.respond({ ":status": 200 });
    stream.end("a page");
    return;
  }
  const chunks = [];
  stream.on("data", (chunk) => chunks.push(chunk));
  stream.on("end", () => {
    const { a, b } = JSON.parse(Buffer.concat(chunks).toString());
    stream.respond(json);
    stream.end(String(a + b));
  });
});
server.listen(0, "127.0.0.1", () =>
  process.send({ url: `https://127.0.0.1:${server.address().port}` }),
);
