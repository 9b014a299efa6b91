// The host of an in-memory role, for the console's benches: a clock, secrets, addresses, and a
// network that answers at once.

import { createHash, createHmac, timingSafeEqual } from "node:crypto";

const hashed = (text) => createHash("sha256").update(text).digest();

/** What a node answers to a call. */
export const success = {
  status: 200,
  headers: { "content-type": "text/plain; charset=utf-8", "x-svc-data-type": "number" },
  body: new TextEncoder().encode("1"),
};

/** `send` answers outbound requests. */
export const memoryHost = (send) => ({
  transport: { send, close: async () => {} },
  names: {
    resolve: async (host) => [`fd00::${hashed(host).readUInt16BE().toString(16)}`],
    own: () => [],
  },
  memory: { hasRoom: () => true },
  clock: {
    now: () => performance.now(),
    after(ms, run) {
      const timer = setTimeout(() => run(), ms).unref();
      return () => clearTimeout(timer);
    },
  },
  carrier: { run: (_, act) => act(), current: () => undefined },
  log: { info() {}, warn() {}, error() {} },
  sign: (secret, text) => createHmac("sha256", secret).update(text).digest("base64url"),
  equalSecrets: (a, b) => timingSafeEqual(hashed(a), hashed(b)),
  digest: (bytes) => createHash("sha256").update(bytes).digest("hex"),
});

/** An incoming request. Without `signal`, the caller never disconnects. */
export const request = (
  method,
  target,
  headers = {},
  body = "",
  signal = { aborted: false, addEventListener() {}, removeEventListener() {} },
) => ({
  method,
  target,
  headers,
  scheme: "http",
  body: (async function* () {
    yield new TextEncoder().encode(body);
  })(),
  readBody: async () => new TextEncoder().encode(body),
  signal,
});
