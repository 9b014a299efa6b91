// The console may be below an application's base, which its page only knows from its own address.

import { consolePath } from "../../../src/base/protocol.ts";

/** The address of one of the console's endpoints: `/state`. */
export function addressOf(endpoint: string): string {
  const { pathname } = location;
  return pathname.slice(0, Math.max(0, pathname.lastIndexOf(consolePath))) + consolePath + endpoint;
}
