// The links of pages to a configured service.

import { PageLinks } from "../http/page-links/page-links.ts";
import type { PreparedService } from "./prepare-service.ts";
import { cutWarning, logFault } from "./running-service.ts";

/** `undefined` for a service that pages don't call. */
export function pageLinksOf(prepared: PreparedService): PageLinks | undefined {
  const { role, host, config, limits, memory, log } = prepared;
  if (role.admitPage === undefined) return undefined;
  return new PageLinks({
    role,
    handle: host.links.around?.(role.handle) ?? role.handle,
    settings: () => ({
      limits,
      streamHeaders: "streamHeaders" in config ? config.streamHeaders : undefined,
    }),
    memory,
    clock: host.clock,
    log,
    onFault: logFault(prepared),
    onCut: cutWarning(prepared),
  });
}
