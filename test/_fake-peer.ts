// The way to a member that gets no calls.

import type { LinkedPeer } from "../src/base/ports.ts";

export function fakePeer(instance: string, send?: LinkedPeer["send"]): LinkedPeer {
  return {
    instance,
    hasRoom: true,
    isSilent: false,
    isAt() {},
    retire() {},
    send: send ?? (() => Promise.reject(new Error("it gets no calls"))),
  };
}
