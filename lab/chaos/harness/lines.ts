// The lines of services' logs.

import type { Service } from "./deployment.ts";
import { pause } from "./load.ts";

/** How often this stands in what a service has written since its start. */
export const count = ({ command }: Pick<Service, "command">, text: string | RegExp): number =>
  command.output().split(text).length - 1;

/** How often a service has linked to a gateway. */
export const linksTo = (gateway: Service, service: Service): number =>
  count(service, `linked to ${gateway.url}`);

export const hasJoined = (node: Service, gateway: Service): boolean =>
  count(gateway, `${node.url} joined with`) > 0;

/** Bounds waiting for what doesn't happen. */
const withinMs = 30_000;

export async function until(what: string, isSo: () => boolean): Promise<void> {
  for (const begun = performance.now(); !isSo(); await pause(20))
    if (performance.now() - begun > withinMs)
      throw new Error(`after ${withinMs / 1_000} s it isn't so that ${what}`);
}
