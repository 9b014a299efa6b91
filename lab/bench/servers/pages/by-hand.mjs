// A page on plain Vite and its server on plain Node, without a framework: files with what makes a
// second visit cheap, and answers from memory, as neither rendering nor a database is compared.
// node by-hand.mjs <folder of the build> <answers by path, as JSON>

import { createHash } from "node:crypto";
import { readFileSync, readdirSync } from "node:fs";
import { createServer } from "node:http";
import { extname, join } from "node:path";
import { brotliCompressSync, constants } from "node:zlib";

const [folder, answers] = process.argv.slice(2);

const types = {
  ".css": "text/css",
  ".html": "text/html",
  ".js": "text/javascript",
  ".svg": "image/svg+xml",
};

/** Compressed as Seamline's services do. */
const packed = (bytes) =>
  brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } });

const found = new Map(
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => {
      const file = join(parentPath, name);
      const body = packed(readFileSync(file));
      const path = file.slice(folder.length).replace(/^\/index\.html$/, "/");
      const headers = {
        "content-type": types[extname(name)],
        "content-encoding": "br",
        etag: `"${createHash("sha256").update(body).digest("base64url")}"`,
        "cache-control": path.startsWith("/assets/")
          ? "public, max-age=31536000, immutable"
          : "no-cache",
      };
      return [path, { headers, body }];
    }),
);
for (const [path, value] of Object.entries(JSON.parse(answers)))
  found.set(path, {
    headers: { "content-type": "application/json", "cache-control": "no-store" },
    body: Buffer.from(JSON.stringify(value)),
  });

const server = createServer((request, response) => {
  const { headers, body } = found.get(request.url.split("?")[0]) ?? {};
  if (body === undefined) response.writeHead(404).end();
  else if (headers.etag !== undefined && request.headers["if-none-match"] === headers.etag)
    response.writeHead(304, headers).end();
  else response.writeHead(200, { ...headers, "content-length": body.length }).end(body);
});
server.listen(0, "127.0.0.1", () => process.send({ port: server.address().port }));
