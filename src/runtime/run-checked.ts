// A call of a function that `checked` made.

import type { InvalidParameterValue } from "../base/errors.ts";
import { cutPath, maxFaults, pathPart, refusedArguments } from "../base/faults.ts";
import type { Procedure } from "../types/imported.ts";
import type { StandardIssue, StandardSchema } from "../types/standard-schema.ts";

/** Calls `run` with the schema's output for the first argument. */
export async function runChecked(
  standard: StandardSchema["~standard"],
  run: Procedure,
  name: string | undefined,
  self: unknown,
  [first, ...others]: unknown[],
): Promise<unknown> {
  const result = await standard.validate(first);
  if (result.issues) throw refusal(result.issues, name);
  return await run.call(self as never, result.value as never, ...(others as never[]));
}

// A library may show the whole value in its message.
const maxMessage = 256;

function refusal(issues: readonly StandardIssue[], name = ""): InvalidParameterValue {
  const faults = issues.slice(0, maxFaults).map(({ path = [], message }) => {
    const parts = path.map((key) => pathPart(typeof key === "object" ? key.key : key)).join("");
    return {
      path: cutPath(name === "" ? parts.replace(/^\./, "") : name + parts),
      message: message.slice(0, maxMessage),
    };
  });
  return refusedArguments({ faults, more: issues.length > maxFaults });
}
