// Fastify's proxy, which uses undici.

import proxy from "@fastify/http-proxy";
import Fastify from "fastify";
import { ready } from "../serve.mjs";

const app = Fastify({ logger: false });
app.register(proxy, { upstream: process.argv[2], undici: { connections: 128, pipelining: 1 } });
await app.listen({ port: 0, host: "127.0.0.1" });
ready(app.server.address().port);
