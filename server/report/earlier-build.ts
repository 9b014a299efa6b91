// Changes that callers of an earlier build notice, as problems of `seamline check`.

import { relative } from "node:path";
import type { Problem } from "../../src/base/problem.ts";
import { compareContracts, type Verdict, verdictText } from "../contract/compare.ts";
import type { Contract } from "../contract/contract.ts";
import type { Level } from "../contract/difference.ts";
import { publicContract } from "../contract/public-contract.ts";
import type { Application } from "../compile/cut/application.ts";
import { slashed } from "../files/sources.ts";

export interface EarlierBuild {
  /** As messages name it. */
  readonly name: string;
  readonly contract: Contract;
  /** It has only what strangers are told. */
  readonly isPublic: boolean;
}

export interface Compared {
  /** Changes that break callers. */
  readonly problems: readonly Problem[];
  /** Changes that some callers may notice. */
  readonly warnings: readonly Problem[];
  readonly counts: Readonly<Record<Level, number>>;
}

/** Compares an application with the build that it replaces. */
export function compareWith(
  { name, contract: before, isPublic }: EarlierBuild,
  application: Application,
  contract: Contract,
): Compared {
  const verdicts = compareContracts(before, isPublic ? publicContract(contract) : contract);
  const files = new Map(
    [...application.procedures, ...application.routes].map(({ fqn, version, route, module }) => [
      route === undefined ? `${fqn}@${version}` : `${route.method} ${route.path}@`,
      slashed(relative(application.root, module.file)),
    ]),
  );
  const problemOf = (verdict: Verdict): Problem => ({
    file: files.get(`${verdict.procedure}@${verdict.version}`) ?? name,
    message: verdictText(verdict),
    ...(verdict.advice !== "" && { hint: verdict.advice }),
  });
  const of = (level: Level): readonly Verdict[] =>
    verdicts.filter((verdict) => verdict.level === level);
  return {
    problems: of("breaking").map(problemOf),
    warnings: of("risky").map(problemOf),
    counts: {
      breaking: of("breaking").length,
      risky: of("risky").length,
      fine: of("fine").length,
    },
  };
}
