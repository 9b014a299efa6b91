// All scenarios, in the order of the rows of docs/reliability.md.

import type { AnchoredScenario, Scenario } from "../harness/scenario.ts";
import { drain, rolling } from "./drain.ts";
import { hang } from "./hang.ts";
import { kill } from "./kill.ts";

/** Scenarios that nginx and HAProxy go through as well. */
export const anchored: readonly AnchoredScenario[] = [kill, drain, rolling, hang];

/** Scenarios of what only a deployment of Seamline has. */
export const own: readonly Scenario[] = [];
