// Links of roles that a test puts behind sockets itself, as `startServer` would.

import type { HeldMemory } from "../server/host/held-memory.ts";
import type { ListenOptions } from "../server/http/http.ts";
import { createLinkHost } from "../server/http/links/dial.ts";
import type { Host } from "../src/base/ports.ts";
import type { Role } from "../src/roles/pipeline/role.ts";

/** For the host of a role. */
export function linkHost(memory?: HeldMemory): Host["links"] {
  return createLinkHost({ ...(memory && { memory }) });
}

/** For the server of a role. */
export function takingLinks(role: Role): Pick<ListenOptions, "acceptLink"> {
  return { acceptLink: role.accept };
}
