// For the first seconds after its start, a gateway doesn't know which procedures there are.

import { setTimeout as pause } from "node:timers/promises";

/** Waits until the gateway at this address, or behind it, answers that it has no such procedure. */
export async function gathered(url: string): Promise<void> {
  while ((await fetch(`${url}/rpc/none`)).status !== 404) await pause(50);
}
