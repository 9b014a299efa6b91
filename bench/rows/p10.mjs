// P10: what access log, metrics and traces add to a call.

import { service } from "../lib/application.mjs";
import { reporting } from "../lib/collections.mjs";
import { calls } from "../lib/samples.mjs";
import { loaded, overHttp, stockApplication } from "./_stock.mjs";

/** @param {string} name @param {Record<string, unknown>} config @param {string} [checkout] */
const standalone = (name, config, checkout) => ({
  name,
  async start() {
    const app = await stockApplication(checkout);
    const started = await service(app, "standalone", config, { node: reporting });
    const { url, pid, output, stop } = started;
    const server = { url, pids: [pid], outputs: [output], stop };
    return await loaded(server, overHttp(calls.add), "add");
  },
});

const metrics = { token: "only-for-the-bench" };

export const title = "`POST /rpc` to one process, with log, metrics and traces";
export const about =
  "`add` over 64 connections. The limit is the same service with all of them off. The log goes through a pipe to a process that reads it. Traces are taken, made and passed on; without `@opentelemetry/api` in the application no span is recorded.";

/** @param {{ against?: string }} options @returns {import("../lib/rounds.mjs").Case[]} */
export const cases = ({ against }) => [
  {
    name: "add, with telemetry",
    unit: "CPU µs/call",
    subjects: [
      standalone("all off", {}),
      standalone("accessLog", { accessLog: true }),
      standalone("metrics", { metrics }),
      standalone("traces", { traces: true }),
      standalone("all three", { accessLog: true, metrics, traces: true }),
      ...(against ? [standalone("all off, before", {}, against)] : []),
    ],
  },
];
