// h3 on its adapter for Node.

import { H3, readBody, serve } from "h3";
import { layers, ready } from "../serve.mjs";

const app = new H3();
for (let layer = 0; layer < layers; layer++) app.use(async (_, next) => await next());
app.post("/rpc/add", async (event) => {
  const { a, b } = await readBody(event);
  return a + b;
});
app.post("/rpc/echo", async (event) => (await readBody(event)).value);
const server = serve(app, { port: 0, hostname: "127.0.0.1", silent: true });
await server.ready();
ready(new URL(server.url).port);
