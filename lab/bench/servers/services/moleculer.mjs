// Moleculer, over its own TCP transporter or over NATS: without logs and metrics.
// node moleculer.mjs callee <transporter> | node moleculer.mjs caller <transporter>

import moleculer from "moleculer";
import { drive } from "./drive.mjs";

const [role, transporter] = process.argv.slice(2);
// Over TCP the two find each other by these addresses; a broadcast might not reach its sender.
const tcp = /^tcp:(\d+),(\d+)$/.exec(transporter);
const urls = tcp && [`127.0.0.1:${tcp[1]}/callee`, `127.0.0.1:${tcp[2]}/caller`];
const port = tcp && Number(tcp[role === "callee" ? 1 : 2]);
const broker = new moleculer.ServiceBroker({
  nodeID: role,
  logger: false,
  transporter: urls ? { type: "TCP", options: { udpDiscovery: false, urls, port } } : transporter,
});
if (role === "callee")
  broker.createService({ name: "stock", actions: { add: ({ params: { a, b } }) => a + b } });
await broker.start();
if (role === "callee") process.send({ address: transporter });
else {
  await broker.waitForServices("stock", 20_000);
  drive(async (a, b) => await broker.call("stock.add", { a, b }));
}
