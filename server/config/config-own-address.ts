// Finds keys that name the service's own address: it would call itself, or couldn't listen there.

import type { Problem } from "../../src/base/problem.ts";
import { addressProblem } from "./config-address.ts";

type Values = Readonly<Record<string, unknown>>;

/** The keys that name other services. */
const others = ["repository", "gateway", "node"] as const;

/** Problems of other services, and of metrics, that are at the service's own `url`. */
export function ownAddressProblems(values: Values, file: string): Problem[] {
  const own = placeOf(values["url"]);
  // Port 0 takes a free port.
  if (own === undefined || own.port === "0") return [];
  const problems: Problem[] = [];
  for (const key of others)
    for (const address of [values[key]].flat()) {
      const place = placeOf(address);
      if (place !== undefined && isReachedAt(own, place))
        problems.push({
          file,
          path: key,
          message: `'${String(address)}' is this service itself, which listens at '${String(values["url"])}'`,
          hint: `Set '${key}' to the address of a ${key}, or another port in 'url'`,
        });
    }
  const { port, host = "127.0.0.1" } = (values["metrics"] ?? {}) as {
    readonly port?: unknown;
    readonly host?: unknown;
  };
  if (typeof port !== "number" || typeof host !== "string") return problems;
  const metrics = { host: host.includes(":") ? `[${host}]` : host, port: String(port) };
  if (isReachedAt(own, metrics) || isReachedAt(metrics, own))
    problems.push({
      file,
      path: "metrics.port",
      message: `port ${port} is the one of 'url', where the service itself listens`,
      hint: 'Set another port, or { "token": "…" } for /metrics at the service\'s own',
    });
  return problems;
}

interface Place {
  readonly host: string;
  readonly port: string;
}

function placeOf(address: unknown): Place | undefined {
  if (typeof address !== "string" || addressProblem(address) !== undefined) return undefined;
  const { hostname, port, protocol } = new URL(address);
  return { host: hostname, port: port || (protocol === "https:" ? "443" : "80") };
}

const loopback = /^(?:localhost|127\.0\.0\.1|\[::1\])$/;
const everywhere = /^(?:0\.0\.0\.0|\[::\])$/;

/** Whether a connection to `place` reaches the socket that listens at `own`, judged by the names. */
function isReachedAt(own: Place, place: Place): boolean {
  if (own.port !== place.port) return false;
  if (own.host === place.host) return true;
  const isHere = loopback.test(place.host) || everywhere.test(place.host);
  if (everywhere.test(own.host)) return isHere;
  // `localhost` may be either loopback address, so it counts as both.
  return loopback.test(own.host) && isHere && [own.host, place.host].some(isEitherLoopback);
}

const isEitherLoopback = (host: string): boolean => host === "localhost" || everywhere.test(host);
