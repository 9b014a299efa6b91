// P10: what access log, metrics and traces add to a call.

import { symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";

import { repository, service } from "../lib/application.mjs";
import { reporting } from "../lib/collections.mjs";
import { calls } from "../lib/samples.mjs";
import { loaded, newStockApplication, overHttp, stockApplication } from "./_stock.mjs";

/**
 * @param {string} name
 * @param {Record<string, unknown>} config
 * @param {{ checkout?: string, records?: boolean }} [options]
 */
const standalone = (name, config, { checkout, records = false } = {}) => ({
  name,
  async start() {
    const app = await (records ? recordingApplication() : stockApplication(checkout));
    const node = records ? [...reporting, "--import", `${app.folder}/record.mjs`] : reporting;
    const { url, pid, output, stop } = await service(app, "standalone", config, { node });
    const server = { url, pids: [pid], outputs: [output], stop };
    return await loaded(server, overHttp(calls.add), "add");
  },
});

/** OpenTelemetry as its documentation sets it up, with an exporter that sends nothing anywhere. */
const record = `import { context, trace } from "@opentelemetry/api";
import { AsyncLocalStorageContextManager } from "@opentelemetry/context-async-hooks";
import { BasicTracerProvider, BatchSpanProcessor } from "@opentelemetry/sdk-trace-base";

const exporter = { export: (_spans, done) => done({ code: 0 }), shutdown: async () => {} };
context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
trace.setGlobalTracerProvider(
  new BasicTracerProvider({ spanProcessors: [new BatchSpanProcessor(exporter)] }),
);
`;

async function recordingApplication() {
  const app = await newStockApplication();
  const packages = "node_modules/@opentelemetry";
  await symlink(join(repository, packages), join(app.folder, packages));
  await writeFile(join(app.folder, "record.mjs"), record);
  return app;
}

const metrics = { token: "only-for-the-bench" };

export const title = "`POST /rpc` to one process, with log, metrics and traces";
export const about =
  "`add` over 64 connections. The limit is the same service with all of them off. The log goes through a pipe to a process that reads it. Traces are taken, made and passed on; without `@opentelemetry/api` in the application no span is recorded. Where they are, its SDK batches them for an exporter that drops them.";

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
      standalone("traces, each recorded", { traces: true }, { records: true }),
      standalone("traces, a tenth recorded", { traces: { sample: 0.1 } }, { records: true }),
      standalone("all three", { accessLog: true, metrics, traces: true }),
      ...(against ? [standalone("all off, before", {}, { checkout: against })] : []),
    ],
  },
];
