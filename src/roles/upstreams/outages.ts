// Logs that a service can't reach another one.

import { type Host, TransportError } from "../../base/ports.ts";

export type LogOutages = <Answer>(sent: Promise<Answer>) => Promise<Answer>;

/**
 * Logs why a service can't be reached, once until it answers again. Only the log has it, as callers learn nothing
 * about the inside of the deployment. `isTold`: it has been logged already.
 */
export function logOutages(
  host: Pick<Host, "log">,
  name: () => string,
  isTold: () => boolean = () => false,
): LogOutages {
  let away = false;
  return async (sent) => {
    try {
      const answer = await sent;
      if (away) host.log.info(`${name()} answers again`);
      away = false;
      return answer;
    } catch (thrown) {
      if (thrown instanceof TransportError && !away && !isTold()) {
        away = true;
        host.log.warn(`${name()} can't be reached: ${thrown.message}`);
      }
      throw thrown;
    }
  };
}
