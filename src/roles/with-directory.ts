// A role that needs the directory: it is there before the role joins anything, and goes after it.

import type { Role } from "./pipeline/role.ts";
import type { Directory } from "./directory/directory.ts";

/**
 * A role that also takes part in the directory. `announce` returns this service's entry, once it takes calls at
 * `url`.
 */
export function withDirectory(
  role: Role,
  directory: Directory,
  announce: (url: string) => Promise<void> = async () => {},
): Role {
  return {
    ...role,
    async start(url, settled) {
      // The role waits for the directory's lists, and may load modules meanwhile.
      await Promise.all([directory.start(), role.start(url, settled)]);
      await announce(url);
    },
    async leave() {
      const [isTold] = await Promise.all([role.leave(), directory.leave()]);
      return isTold;
    },
    async stop() {
      await directory.leave();
      await role.stop();
      await directory.stop();
    },
  };
}
