// Ports for programs that can't listen on port 0, and for services that must come back at the same
// address. They are below the range from which the system takes ports for outgoing connections and for
// port 0: another process would get such a port between its choice and its use.

import { once } from "node:events";
import { createServer } from "node:net";

const lowest = 12_000;
const highest = 32_000;
const taken = new Set<number>();

/** A port that nothing listens on. All have five digits. */
export async function freePort(): Promise<number> {
  for (let tries = 0; tries < 200; tries++) {
    const port = lowest + Math.floor(Math.random() * (highest - lowest));
    if (taken.has(port) || !(await isFree(port))) continue;
    taken.add(port);
    return port;
  }
  throw new Error(`No free port between ${lowest} and ${highest}`);
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer();
  try {
    server.listen(port, "127.0.0.1");
    await once(server, "listening");
    return true;
  } catch {
    // Something else listens there.
    return false;
  } finally {
    server.close();
  }
}
