// A gateway in memory, whose members link to it without sockets: for benches of one role.

import { fileURLToPath } from "node:url";
import { runnerImport } from "vite";

export const here = fileURLToPath(new URL("../../..", import.meta.url));

const loaded = new Map();

/** Loads a module of a checkout [this one], once: two copies would be optimised separately. */
export async function load(file, root = here) {
  const path = `${root}/${file}`;
  if (!loaded.has(path)) {
    const { module } = await runnerImport(path, { root, configFile: false, logLevel: "error" });
    loaded.set(path, module);
  }
  return loaded.get(path);
}

/** A member's answer to a call. */
export const success = {
  status: 200,
  headers: { "content-type": "text/plain; charset=utf-8", "x-svc-data-type": "number" },
  body: "1",
};

/**
 * Starts a gateway of a checkout. `member` dials it as a node does, which is told by `test/_fake-member.ts`;
 * the health of members isn't asked for after they have joined. `observe` makes what observes the gateway.
 */
export async function memoryGateway({
  root = here,
  url = "http://gateway",
  trustKey,
  observe = () => undefined,
}) {
  const { createGateway } = await load("src/roles/gateway.ts", root);
  const { defaultLimits: limits } = await load("src/base/limits.ts", root);
  const { nodeHost } = await load("server/http/host.ts", root);
  const { memoryLinks } = await load("server/local/memory-links.ts", root);
  const { dialAsMember, memoryDial } = await load("test/_fake-member.ts");
  const roles = new Map();
  const log = { info() {}, warn() {}, error() {} };
  const host = nodeHost({ links: memoryLinks({ roles }), log });
  let ids = 0;
  const role = createGateway(host, {
    trustKey,
    limits,
    healthIntervalMs: 1e8,
    newId: () => `m${++ids}`,
    observer: observe(host),
  });
  roles.set(url, role);
  await role.start(url);
  const dial = memoryDial({ roles });
  return {
    role,
    member: async (options) => await dialAsMember({ gateway: url, dial, trustKey, ...options }),
  };
}

/** A request from outside. Without `signal`, the caller never disconnects. */
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
