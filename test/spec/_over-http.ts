import { it } from "vitest";

import { isLinked } from "../_way.ts";

/**
 * For what is only so where members have no links: leases, questions about health, a second of serving
 * after leaving. `overLinks` is the statement that holds there in its place, or why there is none.
 */
export function itOverHttp(title: string, overLinks: string, run: () => Promise<void>): void {
  if (isLinked) it.skip(`${title} [over links: ${overLinks}]`, run);
  else it(title, run);
}
