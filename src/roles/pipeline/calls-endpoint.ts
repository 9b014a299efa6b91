// How many calls a service runs, for the console of its gateway.

import { Unauthorized } from "../../base/errors.ts";
import type { CallFigures } from "../../base/ports/telemetry.ts";
import { answerHeaders, callsPath, mediaTypes } from "../../base/protocol.ts";
import type { Route } from "../../http/router.ts";

/** The endpoint with a service's call figures, for holders of the trust key. */
export function callsEndpoint(figures: () => CallFigures): Route {
  return [
    "GET",
    callsPath,
    async (_, { holdsKey }) => {
      if (!holdsKey)
        throw new Unauthorized("The figures of calls need the trust key of this deployment");
      return {
        status: 200,
        headers: { "content-type": mediaTypes.json, ...answerHeaders },
        body: JSON.stringify(figures()),
      };
    },
  ];
}
