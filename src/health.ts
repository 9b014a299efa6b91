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
  /** By name: whether it is healthy, or an object with `healthy` and the check's details. */
  details(): Promise<Record<string, unknown>>;
}

/** A check that takes longer is unhealthy (decisions §5). */
const longestCheck = 5000;

export function createHealth(clock: Clock, log: Log): Health {
  const checks = new Map<string, HealthCheck>();

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

  const ask = async (name: string, check: HealthCheck): Promise<boolean> => (await within(() => check.isHealthy(), false, name)) === true;

  return {
    add: (name, check) => void checks.set(name, check),
    status: async () => (await Promise.all([...checks].map(([name, check]) => ask(name, check)))).every(Boolean),
    details: async () => {
      const rows = [...checks].map(async ([name, check]) => {
        const healthy = await ask(name, check);
        if (check.details === undefined) return [name, healthy] as const;
        return [name, { ...(await within(async () => await check.details?.(), undefined, name)), healthy }] as const;
      });
      return Object.fromEntries(await Promise.all(rows));
    },
  };
}
