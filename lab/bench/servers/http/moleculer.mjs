// Moleculer behind its own HTTP gateway, in one process: without logs, metrics and ETags.

import moleculer from "moleculer";
import ApiGateway from "moleculer-web";
import { layers, ready } from "../serve.mjs";

const layer = { localAction: (next) => async (context) => await next(context) };
const broker = new moleculer.ServiceBroker({
  logger: false,
  middlewares: Array.from({ length: layers }, () => layer),
});
broker.createService({
  name: "stock",
  actions: {
    add: ({ params: { a, b } }) => a + b,
    echo: ({ params: { value } }) => value,
  },
});
const gateway = broker.createService({
  mixins: [ApiGateway],
  settings: {
    port: 0,
    ip: "127.0.0.1",
    etag: false,
    routes: [
      {
        path: "/rpc",
        bodyParsers: { json: { limit: "1mb" } },
        mappingPolicy: "restrict",
        aliases: { "POST add": "stock.add", "POST echo": "stock.echo" },
      },
    ],
  },
});
await broker.start();
ready(gateway.server.address().port);
