// How many promises a call makes in each service that it passes. Each costs about 0.1 µs, as contexts are
// carried across it. It's a count, so other work on the machine doesn't change it.
// node lab/bench/promises.mjs [FOLDER of another checkout], after npm run build

import { once } from "node:events";
import { fileURLToPath } from "node:url";

import { deployment, service } from "./lib/application.mjs";
import { calls as samples } from "./lib/samples.mjs";
import { overHttp, stockApplication } from "./rows/_stock.mjs";

const app = await stockApplication(process.argv[2]);
const node = ["--import", fileURLToPath(new URL("lib/count-promises.mjs", import.meta.url))];
const count = 500;

/** Makes calls, one after another. @param {string} url @param {number} times */
async function call(url, times) {
  const { path, headers, body } = overHttp(samples.add);
  for (let at = 0; at < times; at++) {
    const answer = await fetch(url + path, { method: "POST", headers, body });
    const text = await answer.text();
    if (text !== "3") throw new Error(`${url} answered ${answer.status}: ${text}`);
  }
}

/** Promises that a service has made so far. @param {import("./lib/application.mjs").Service} service */
async function promisesOf({ child, output }) {
  const from = output().length;
  child.kill("SIGUSR2");
  for (;;) {
    const said = /^(\d+) promises\n/m.exec(output().slice(from));
    if (said !== null) return Number(said[1]);
    await once(child.stdout, "data");
  }
}

/** @param {string} url @param {Record<string, import("./lib/application.mjs").Service>} services */
async function report(url, services) {
  // The first calls load code.
  await call(url, count);
  const counts = async () => await Promise.all(Object.values(services).map(promisesOf));
  const before = await counts();
  await call(url, count);
  const after = await counts();
  Object.keys(services).forEach((name, at) =>
    console.log(`${name}: ${((after[at] - before[at]) / count).toFixed(1)} promises a call`),
  );
}

const standalone = await service(app, "standalone", {}, { node });
try {
  await report(standalone.url, { standalone });
} finally {
  await standalone.stop();
}
const deployed = await deployment(app, { nodes: [["stock"]], proxy: true }, { node });
try {
  const { gateway, proxy } = deployed;
  await report(gateway.url, { gateway, "node behind it": deployed.nodes[0] });
  await report(proxy.url, { proxy });
} finally {
  await deployed.stop();
}
