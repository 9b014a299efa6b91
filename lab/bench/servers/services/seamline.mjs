// A node of an application inside this process, for what doesn't pass a socket.
// node seamline.mjs <application folder> <checkout>

import { pathToFileURL } from "node:url";

const [root, checkout] = process.argv.slice(2);
const { startServer } = await import(pathToFileURL(`${checkout}/dist/server.js`).href);
const config = {
  mode: "standalone",
  url: "http://127.0.0.1:0",
  log: "warn",
  limits: { callTimeoutMs: 120_000 },
};
const server = await startServer((specifier) => import(specifier), {
  config,
  root,
  signals: false,
  build: false,
});
process.on("message", async ({ what, seconds }) => {
  process.send({ cost: await server.runProcedure("measure", "", { what, seconds }) });
});
process.send({});
