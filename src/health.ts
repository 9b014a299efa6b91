// Health (§2.6, §4.5): named checks, and what they say together.

import type { Clock, Log } from "./ports.ts";

/** A check of something that this service needs (§2.6). */
export interface HealthCheck {
  isHealthy(): Promise<boolean>;
  /** More to show at `/health` (decisions §5). */
  details?(): Promise<Readonly<Record<string, unknown>>>;
}

export interface Health {
  /** A name that exists is overwritten (§2.6). */
  add(name: string, check: HealthCheck): void;
  /** `true` when every check says so; without checks too. */
  status(): Promise<boolean>;
  /** By name: whether it is healthy, or an object with `healthy` and the check's details. All of it can be sent as JSON. */
  details(): Promise<Record<string, unknown>>;
}

/** A check that takes longer is unhealthy (decisions §5). */
const longestCheck = 5000;

export function createHealth(clock: Clock, log: Log): Health {
  const checks = new Map<string, HealthCheck>();
  /** Anybody may ask: those who ask while a check runs get the answer of that run. */
  const running = new Map<HealthCheck, Promise<boolean>>();

  const within = async <T>(ask: () => Promise<T>, otherwise: T, name: string): Promise<T> => {
    let cancel = (): void => {};
    const late = new Promise<T>((resolve) => {
      cancel = clock.after(longestCheck, () => {
        log.warn(`health check '${name}' took over ${longestCheck} ms`);
        resolve(otherwise);
      });
    });
    try {
      return await Promise.race([ask(), late]);
    } catch (error) {
      log.error(`health check '${name}' failed`, error);
      return otherwise;
    } finally {
      cancel();
    }
  };

  const run = async (name: string, check: HealthCheck): Promise<boolean> => {
    const said: unknown = await within<unknown>(() => check.isHealthy(), false, name);
    // `undefined` of a forgotten `return`, or a row of a database, says nothing of health.
    if (typeof said !== "boolean")
      log.warn(
        `health check '${name}' gave ${kindOf(said)}, which is no boolean: it counts as unhealthy`,
      );
    return said === true;
  };

  const ask = (name: string, check: HealthCheck): Promise<boolean> => {
    let asked = running.get(check);
    if (asked === undefined) {
      asked = run(name, check).finally(() => running.delete(check));
      running.set(check, asked);
    }
    return asked;
  };

  const more = async (name: string, check: HealthCheck): Promise<object> => {
    const given: unknown = await within<unknown>(
      async () => await check.details?.(),
      undefined,
      name,
    );
    if (given === undefined) return {};
    try {
      // What one check says must not cost the answer of the others, so it is made JSON here; a Date would be a text then.
      const said: unknown = JSON.parse(JSON.stringify(given) ?? "null");
      if (typeof said !== "object" || said === null || Array.isArray(said))
        throw new TypeError(`it is ${kindOf(said)}`);
      return said;
    } catch (error) {
      log.error(
        `what details() of the health check '${name}' gave is no object that JSON can carry`,
        error,
      );
      return {};
    }
  };

  return {
    add: (name, check) => void checks.set(name, check),
    status: async () =>
      (await Promise.all([...checks].map(([name, check]) => ask(name, check)))).every(Boolean),
    details: async () => {
      const rows = [...checks].map(async ([name, check]) => {
        if (check.details === undefined) return [name, await ask(name, check)] as const;
        const [healthy, details] = await Promise.all([ask(name, check), more(name, check)]);
        return [name, { ...details, healthy }] as const;
      });
      return Object.fromEntries(await Promise.all(rows));
    },
  };
}

function kindOf(value: unknown): string {
  return value === null ? "null" : Array.isArray(value) ? "a list" : typeof value;
}
