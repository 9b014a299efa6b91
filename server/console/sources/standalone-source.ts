// What a standalone shows: itself, and the calls between its procedures.

import type { ProcedureState } from "../../../src/types/console-state.ts";
import type { Subject } from "../../../src/roles/members/observer.ts";
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
      // Procedures are only registered when the service starts.
      if (procedures.length !== registrations.length)
        procedures = registrations.map(({ record, access, segments: named }) => {
          const { fqn, version, parameters } = record;
          return { fqn, version, access, segments: named, parameters };
        });
      return procedures;
    },
    watch: (onCall) => node.observe((call) => onCall(call, self)),
  };
}
