// Fastify with schemas for bodies and answers, from which it compiles parsers and serializers.

import Fastify from "fastify";
import { layers, ready } from "../serve.mjs";

const number = { type: "number" };
const item = {
  type: "object",
  properties: {
    sku: { type: "string" },
    metres: number,
    price: number,
    colour: { type: "string" },
    inStock: { type: "boolean" },
    note: { type: ["string", "null"] },
  },
};
const stock = { type: "object", properties: { items: { type: "array", items: item } } };
const body = (properties) => ({ type: "object", required: Object.keys(properties), properties });

const app = Fastify({ logger: false });
for (let layer = 0; layer < layers; layer++) app.addHook("preHandler", async () => {});
app.post(
  "/rpc/add",
  { schema: { body: body({ a: number, b: number }), response: { 200: number } } },
  async ({ body: { a, b } }) => a + b,
);
app.post(
  "/rpc/echo",
  { schema: { body: body({ value: stock }), response: { 200: stock } } },
  async ({ body: { value } }) => value,
);
await app.listen({ port: 0, host: "127.0.0.1" });
ready(app.server.address().port);
