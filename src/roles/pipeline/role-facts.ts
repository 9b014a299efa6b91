// Facts about a role, for the terminal and for programs.

import type { RouteInfo } from "../../runtime/routes.ts";
import type { Way } from "../links/dialled-link.ts";

/** Facts about a service; each role has others. */
export interface RoleFacts {
  /** The segments that a node or standalone has loaded. */
  readonly segments?: readonly string[];
  /** How many procedures they hold. */
  readonly procedures?: number;
  /** Routes that it answers, or passes on. */
  readonly routes?: readonly RouteInfo[];
  /** Addresses of a gateway's members. */
  readonly members?: readonly string[];
  /** Its links to the services that it calls. */
  readonly ways?: readonly Way[];
}
