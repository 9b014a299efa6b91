// What a role tells of itself, for the terminal and for programs.

import type { RouteInfo } from "../runtime/routes.ts";
import type { Way } from "./links/dialled-link.ts";

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
  /** Those of them that calls reach over links. */
  readonly linked?: readonly string[];
  /** How requests go to the services that this one may link to. */
  readonly ways?: readonly Way[];
}
