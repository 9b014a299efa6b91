// `checked(schema, async (order) => …)`: for constraints that types can't express.

import type { Procedure } from "../types/imported.ts";
import type { Checked, StandardSchema } from "../types/standard-schema.ts";
import type { runChecked } from "./run-checked.ts";

/** `load` gives what runs such a function: pages fetch it for the first one. */
export function createChecked(
  load: () => Promise<{ runChecked: typeof runChecked }> | { runChecked: typeof runChecked },
): Checked {
  const checked = (schema: StandardSchema, run: Procedure, name?: string): Procedure => {
    const standard = schema?.["~standard"];
    if (!standard) throw new TypeError("checked() needs a Standard Schema");
    return async function (this: unknown, ...args: unknown[]) {
      return (await load()).runChecked(standard, run, name, this, args);
    };
  };
  return checked as Checked;
}
