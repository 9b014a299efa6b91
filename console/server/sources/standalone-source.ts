// The state of a standalone: itself, and the calls between its procedures.

import type { ProcedureState } from "../../console-state.ts";
import { describeNode, describeTypes, type Subject } from "../../../src/roles/pipeline/observer.ts";
import type { Source } from "./source.ts";

/** The id of the only member. */
const self = "local";

export function standaloneSource({
  node,
  name,
  segments,
}: Extract<Subject, { mode: "standalone" }>): Source {
  let procedures: readonly ProcedureState[] = [];
  return {
    mode: "standalone",
    name,
    members: () => [
      { id: self, ...(name === undefined ? {} : { name }), segments: segments(), state: "ready" },
    ],
    procedures() {
      const registrations = node.registry.all();
      const routes = node.routes.all();
      // Both are only registered when the service starts.
      if (procedures.length !== registrations.length + routes.length)
        procedures = describeNode(name, segments(), registrations, routes).procedures;
      return procedures;
    },
    types: (fqn, version) => describeTypes(node, fqn, version),
    watch: (onCall) => node.observe((call) => onCall(call, self)),
  };
}
