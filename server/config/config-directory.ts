// The key `directory`: its effect on other keys.

import type { Problem } from "../../src/base/problem.ts";
import type { Mode } from "./config-types.ts";

export const defaultDirectoryPrefix = "seamline";

type Values = Readonly<Record<string, unknown>>;

/** Keys that contradict `directory`, or each other within it. */
export function directoryProblems(values: Values, mode: Mode, file: string): readonly Problem[] {
  const { directory: given } = values;
  if (given === undefined) return [];
  const problems: Problem[] = [];
  const { tls } = (given ?? {}) as Values;
  const { cert, key } = (tls ?? {}) as Values;
  if ((cert === undefined) !== (key === undefined))
    problems.push({
      file,
      path: "directory.tls",
      message: "'cert' and 'key' belong together",
      hint: "Give both, or neither if the server asks for no certificate",
    });
  const { url } = values;
  if (
    mode === "gateway" &&
    typeof url === "string" &&
    /^https?:\/\/(?:0\.0\.0\.0|\[::\])(?:[:/]|$)/.test(url)
  )
    problems.push({
      file,
      path: "url",
      message: `'directory' tells others to dial this gateway at '${url}', which they can't`,
      hint: "Set 'url' to the host name or address at which others reach it",
    });
  if (mode === "node" && values["gateway"] !== undefined)
    problems.push({
      file,
      path: "gateway",
      message: "a node finds its gateways in 'directory' or 'gateway', not in both",
      hint: "Remove one of them",
    });
  return problems;
}
