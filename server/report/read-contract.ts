// The contract of an application, from its sources.

import { type Problem, Problems } from "../../src/base/problem.ts";
import type { Contract } from "../contract/contract.ts";
import { clashProblems, contractOf } from "../compile/write/contract.ts";
import type { BuildOptions } from "../vite/build.ts";
import { openApplication } from "./open-application.ts";

/** Throws {@link Problems} for an application whose build would fail for its types or segment files. */
export async function readContract(settings: BuildOptions): Promise<{
  readonly contract: Contract;
  /** Functions that would be one operation of an OpenAPI document. */
  readonly clashes: readonly Problem[];
  /** The path below which the application is. */
  readonly base: string;
}> {
  const { application, readTypes, base } = await openApplication(settings);
  if (application.problems.length > 0) throw new Problems(application.problems);
  const types = await readTypes({ contract: true });
  const problems = types?.problems ?? [];
  if (problems.length > 0) throw new Problems(problems);
  const contract = contractOf(application, types);
  return { contract, clashes: clashProblems(application, contract), base };
}
