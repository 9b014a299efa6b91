// Logs, metrics and traces of a service, as its configuration asks for.

import type { Log, Telemetry } from "../../src/base/ports.ts";
import { Problems } from "../../src/base/problem.ts";
import { createPublicOrigin, type PublicOrigin } from "../../src/http/public-origin.ts";
import { createLog, logFormat } from "../base/log.ts";
import { packageVersion } from "../base/package-folder.ts";
import type { Config } from "../config/config.ts";
import type { TracesConfig } from "../config/config-types.ts";
import type { Tracing } from "../telemetry/traces/tracing.ts";
import { nodeClock } from "../host/clock.ts";
import type { HeldMemory } from "../host/held-memory.ts";
import { webOf } from "./web-of.ts";

/** The log of a service: text on a terminal, and JSON for programs. */
export function serviceLog(config: Config): Log {
  return createLog({
    level: config.log ?? "info",
    format: logFormat(process.stdout, process.env),
    role: config.mode,
    node: nameIn(config),
  });
}

const nameIn = (config: Config): string | undefined => ("name" in config ? config.name : undefined);

/** The telemetry of a service, to be closed at its end. */
export interface Observation {
  readonly telemetry: Telemetry | undefined;
  close(): Promise<void>;
}

const nothing: Observation = { telemetry: undefined, close: async () => {} };

interface ObservationParts {
  readonly log: Log;
  readonly memory: HeldMemory;
  readonly trustKeys: readonly (string | undefined)[];
  /** The application folder. */
  readonly root: string;
  /** The configuration's name in problems. */
  readonly file: string;
}

/** Notes requests, if the configuration asks for that. Otherwise the code for it isn't loaded. */
export async function observe(
  config: Config,
  { log, memory, trustKeys, root, file }: ObservationParts,
): Promise<Observation> {
  const { accessLog = false, metrics: wanted, traces = false } = config;
  if (!accessLog && wanted === undefined && traces === false) return nothing;
  const token = wanted !== undefined && "token" in wanted ? wanted.token : undefined;
  // Prometheus keeps its tokens in files, and all readers of metrics could do everything.
  if (token !== undefined && trustKeys.includes(token))
    throw new Problems([
      {
        file,
        path: "metrics.token",
        message: "it is the trust key, which may do far more than read metrics",
        hint: "Set another token",
      },
    ]);
  const role = { role: config.mode, node: nameIn(config) };
  const { createTelemetry } = await import("../telemetry/telemetry.ts");
  const tracing = traces === false ? undefined : await tracingOf(traces, role, root);
  const options = { clock: nodeClock, log, accessLog, tracing };
  if (wanted === undefined) return { ...nothing, telemetry: createTelemetry(options) };
  const [{ Metrics }, { listenForMetrics }] = await Promise.all([
    import("../telemetry/metrics/metrics.ts"),
    import("../telemetry/metrics/metrics-endpoint.ts"),
  ]);
  const metrics = new Metrics({ ...role, version: packageVersion(), memory });
  const listener =
    "port" in wanted
      ? await listenForMetrics(metrics, wanted, webAt(config, wanted.host, log)).catch(
          (error: unknown) => {
            throw listenProblem(error as Error, file);
          },
        )
      : undefined;
  if (listener !== undefined) log.info(`metrics at ${listener.url}`);
  return {
    telemetry: createTelemetry({ ...options, metrics, metricsToken: token }),
    async close() {
      metrics.stop();
      await listener?.close();
    },
  };
}

/**
 * The hosts of the service. They keep pages of other sites from reading the metrics, through a DNS name that points
 * here.
 */
function webAt(config: Config, host: string | undefined, log: Log): PublicOrigin {
  const { hosts = [], ...web } = webOf(config);
  return createPublicOrigin(log, { ...web, hosts: host === undefined ? hosts : [...hosts, host] });
}

/** A listener's errors speak of the service's own `url`. */
function listenProblem(error: Error, file: string): Problems {
  const { code = "" } = (error.cause ?? {}) as NodeJS.ErrnoException;
  const path = ["EADDRNOTAVAIL", "ENOTFOUND"].includes(code) ? "metrics.host" : "metrics.port";
  const message = error.message
    .replace("set another port in 'url'", "set another port")
    .replace("in 'url'", `in '${path}'`);
  return Object.assign(new Problems([{ file, path, message }]), { cause: error });
}

async function tracingOf(
  traces: true | TracesConfig,
  role: { readonly role: string; readonly node: string | undefined },
  root: string,
): Promise<Tracing> {
  const [{ Tracing }, { applicationApi }] = await Promise.all([
    import("../telemetry/traces/tracing.ts"),
    import("../telemetry/traces/application-api.ts"),
  ]);
  const sample = traces === true ? 1 : traces.sample;
  return new Tracing({ ...role, sample, api: applicationApi(root) });
}
