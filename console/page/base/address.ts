// The console may be below an application's base, which only its own address tells.

import { consolePath } from "../../../src/base/protocol.ts";

/** The address of one of the console's endpoints: `/state`. */
export function addressOf(endpoint: string): string {
  const { pathname } = location;
  return pathname.slice(0, Math.max(0, pathname.lastIndexOf(consolePath))) + consolePath + endpoint;
}
