// Hono on its adapter for Node.

import { serve } from "@hono/node-server";
import { Hono } from "hono";
import { layers, ready } from "../serve.mjs";

const app = new Hono();
for (let layer = 0; layer < layers; layer++)
  app.use(async (_, next) => {
    await next();
  });
app.post("/rpc/add", async (context) => {
  const { a, b } = await context.req.json();
  return context.json(a + b);
});
app.post("/rpc/echo", async (context) => context.json((await context.req.json()).value));
serve({ fetch: app.fetch, port: 0, hostname: "127.0.0.1" }, ({ port }) => ready(port));
