// Makes the tables' client calls by name in a page, and reports which outcomes differ.

import { allCases, differenceOf } from "../people/all-calls.ts";

type RunProcedure = (
  name: string,
  version: string,
  args: Readonly<Record<string, unknown>>,
) => Promise<unknown>;

/** Case → its difference, "" if there is none. */
export async function calls(runProcedure: RunProcedure): Promise<Record<string, string>> {
  const report: Record<string, string> = {};
  for (const { ids, title, client, noPage } of allCases) {
    if (client === undefined || noPage !== undefined) continue;
    const { fqn, version = "", args = {} } = client;
    const name = `${ids} ${title}`;
    if (name in report) throw new Error(`two cases are called ${name}`);
    report[name] =
      (await differenceOf(client, async () => await runProcedure(fqn, version, args))) ?? "";
  }
  return report;
}
