// Health: named checks, and the status that they add up to.

import type { Clock, HttpResponse, Log } from "../base/ports.ts";
import { answerHeaders, mediaTypes, paths } from "../base/protocol.ts";
import type { Route } from "./router.ts";

/** Checks one dependency of this service. */
export interface HealthCheck {
  isHealthy(): Promise<boolean>;
  /** More to show at `/health`, as an object that JSON can carry. */
  details?(): Promise<Readonly<Record<string, unknown>>>;
}

export interface Health {
  /** Replaces a check of the same name. */
  add(name: string, check: HealthCheck): void;
  /** `true` if every check is healthy, or if there are none. */
  status(): Promise<boolean>;
  /**
   * By name: whether the check is healthy, or an object with `healthy` and its details. JSON can
   * carry all of it.
   */
  details(): Promise<Record<string, unknown>>;
}

/** A check that takes longer counts as unhealthy. */
const checkTimeoutMs = 5000;

export function createHealth(clock: Clock, log: Log): Health {
  const checks = new Map<string, HealthCheck>();
  /** Shared between requests: anyone may ask, so a check and its details run once at a time. */
  const running = new Map<HealthCheck, Promise<boolean>>();
  const describing = new Map<HealthCheck, Promise<object>>();

  const inTime = async <T>(act: () => Promise<T>, fallback: T, name: string): Promise<T> => {
    let cancel = (): void => {};
    const late = new Promise<T>((resolve) => {
      cancel = clock.after(checkTimeoutMs, () => {
        log.warn(`health check '${name}' took over ${checkTimeoutMs} ms`);
        resolve(fallback);
      });
    });
    try {
      return await Promise.race([act(), late]);
    } catch (error) {
      log.error(`health check '${name}' failed`, error);
      return fallback;
    } finally {
      cancel();
    }
  };

  const run = async (name: string, check: HealthCheck): Promise<boolean> => {
    const healthy: unknown = await inTime<unknown>(() => check.isHealthy(), false, name);
    // `undefined` (a forgotten `return`) or a database row says nothing about health.
    if (typeof healthy !== "boolean")
      log.warn(
        `health check '${name}' returned ${kindOf(healthy)} instead of a boolean: it counts as unhealthy`,
      );
    return healthy === true;
  };

  const once = <T>(
    pending: Map<HealthCheck, Promise<T>>,
    check: HealthCheck,
    act: () => Promise<T>,
  ): Promise<T> => {
    let result = pending.get(check);
    if (result === undefined) {
      result = act().finally(() => pending.delete(check));
      pending.set(check, result);
    }
    return result;
  };

  const isHealthy = (name: string, check: HealthCheck): Promise<boolean> =>
    once(running, check, () => run(name, check));

  const detailsOf = async (name: string, check: HealthCheck): Promise<object> => {
    const returned: unknown = await inTime<unknown>(
      async () => await check.details?.(),
      undefined,
      name,
    );
    if (returned === undefined) return {};
    try {
      // Convert each check's details by itself, so that one failure doesn't hide the others.
      const details: unknown = JSON.parse(JSON.stringify(returned) ?? "null");
      if (typeof details !== "object" || details === null || Array.isArray(details))
        throw new TypeError(`it is ${kindOf(details)}`);
      return details;
    } catch (error) {
      log.error(
        `details() of the health check '${name}' must return an object that JSON can carry`,
        error,
      );
      return {};
    }
  };

  return {
    add: (name, check) => void checks.set(name, check),
    status: async () =>
      (await Promise.all([...checks].map(([name, check]) => isHealthy(name, check)))).every(
        Boolean,
      ),
    details: async () => {
      const rows = [...checks].map(async ([name, check]) => {
        if (check.details === undefined) return [name, await isHealthy(name, check)] as const;
        const [healthy, details] = await Promise.all([
          isHealthy(name, check),
          once(describing, check, () => detailsOf(name, check)),
        ]);
        return [name, { ...details, healthy }] as const;
      });
      return Object.fromEntries(await Promise.all(rows));
    },
  };
}

function kindOf(value: unknown): string {
  if (Array.isArray(value)) return "a list";
  return value === null ? "null" : typeof value;
}

/** Health is answered for any host, since orchestrators use their own names and addresses. */
export function isHealth(target: string): boolean {
  return target.startsWith(paths.health) && /^(?:$|[/?])/.test(target.slice(paths.health.length));
}

/** Health for people, and two endpoints for orchestrators. */
export function healthRoutes(health: Health, ready: () => boolean): Route[] {
  const json = (value: unknown, status = 200): HttpResponse => ({
    status,
    headers: { "content-type": mediaTypes.json, ...answerHeaders },
    body: JSON.stringify(value),
  });
  return [
    ["GET", paths.healthStatus, async () => json(await health.status())],
    ["GET", paths.health, async () => json(await health.details())],
    ["GET", paths.healthLive, () => json(true)],
    [
      "GET",
      paths.healthReady,
      async () => (ready() && (await health.status()) ? json(true) : json(false, 503)),
    ],
  ];
}
