// The same uploads and downloads by node:http alone, for comparison: what the application's
// handlers do, without anything in between. Prints its address.

import { createHash } from "node:crypto";
import { createServer } from "node:http";
import { pipeline, Readable } from "node:stream";
import { source } from "../../lib/streaming.mjs";

const server = createServer(async (request, response) => {
  const bytes = /^\/download\/(\d+)/.exec(request.url)?.[1];
  if (bytes !== undefined) {
    response.writeHead(200, { "content-length": bytes });
    return pipeline(Readable.from(source(Number(bytes))), response, () => {});
  }
  const hash = createHash("sha256");
  let size = 0;
  for await (const chunk of request) {
    hash.update(chunk);
    size += chunk.length;
  }
  response.end(JSON.stringify({ size, digest: hash.digest("hex") }));
});
server.listen(0, "127.0.0.1", () =>
  process.stdout.write(`bare at http://127.0.0.1:${server.address().port}\n`),
);
