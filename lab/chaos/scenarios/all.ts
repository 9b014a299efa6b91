// All scenarios, in the order of the rows of docs/reliability.md.

import type { AnchoredScenario, Scenario } from "../harness/scenario.ts";
import { churn } from "./churn.ts";
import { clock } from "./clock.ts";
import { drain, rolling } from "./drain.ts";
import { gateway } from "./gateway.ts";
import { hang } from "./hang.ts";
import { health, nobody } from "./health.ts";
import { kill } from "./kill.ts";
import { lostDirectory, lostDirectoryServer } from "./lost-directory.ts";
import { lostGateway } from "./lost-gateway.ts";
import { network } from "./network.ts";
import { overload } from "./overload.ts";
import { refusals } from "./refusals.ts";
import { repository } from "./repository.ts";
import {
  rollingAll,
  rollingAllByDirectory,
  rollingGateways,
  rollingGatewaysByDirectory,
} from "./rolls.ts";
import { slowCallers } from "./slow-callers.ts";
import { unknown } from "./unknown.ts";

/** Scenarios that nginx and HAProxy go through as well. */
export const anchored: readonly AnchoredScenario[] = [kill, drain, rolling, hang];

/** Scenarios of what only a deployment of Seamline has. */
export const own: readonly Scenario[] = [
  health,
  nobody,
  unknown,
  gateway,
  lostGateway,
  repository,
  refusals,
  overload,
  slowCallers,
  churn,
  clock,
  network,
  rollingGateways,
  rollingGatewaysByDirectory,
  rollingAll,
  rollingAllByDirectory,
  lostDirectoryServer,
  lostDirectory,
];
