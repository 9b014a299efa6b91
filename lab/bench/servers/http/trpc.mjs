// tRPC on its handler for Node's own server.

import { initTRPC } from "@trpc/server";
import { createHTTPServer } from "@trpc/server/adapters/standalone";
import { layers, ready } from "../serve.mjs";

const t = initTRPC.create();
let procedure = t.procedure;
for (let layer = 0; layer < layers; layer++)
  procedure = procedure.use(async ({ next }) => await next());
const plain = (value) => value;
const router = t.router({
  add: procedure.input(plain).mutation(async ({ input: { a, b } }) => a + b),
  echo: procedure.input(plain).mutation(async ({ input: { value } }) => value),
});
const server = createHTTPServer({ router });
server.listen(0, "127.0.0.1", () => ready(server.address().port, { path: (name) => `/${name}` }));
