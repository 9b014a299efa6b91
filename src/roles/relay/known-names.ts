// Which procedures the application behind a proxy has.

import type { Host } from "../../base/ports.ts";
import type { ServerModules } from "../application/application.ts";
import { retryMs } from "../common/times.ts";

/** Whether the application has a procedure. It isn't known before the repository has answered. */
export function knownNames(
  modules: ServerModules,
  { clock }: Pick<Host, "clock">,
): (name: string) => boolean {
  let names: ReadonlySet<string> | undefined;
  let nextTry = -Infinity;
  const load = async (): Promise<void> => {
    const { procedures } = await modules.manifest();
    names = new Set(procedures.map(({ fqn }) => fqn));
  };
  return (name) => {
    if (names === undefined && clock.now() >= nextTry) {
      nextTry = clock.now() + retryMs.manifest;
      // Loading logs that the repository is away. Until it's there, no name counts as known.
      load().catch(() => {});
    }
    return names?.has(name) === true;
  };
}
