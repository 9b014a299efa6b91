// The shared part of the benches' servers: how they say that they are ready, and how they are called.

import { calls } from "../lib/samples.mjs";

/** How many middleware the server is to have. */
export const layers = Number(process.argv[2] ?? 0);

/** JSON text of a value. @typedef {(procedure: string, args: any) => string} BodyOf */

/**
 * Tells the bench where the server is and what requests it gets.
 * @param {number | undefined} port
 * @param {{ path?: (procedure: string) => string, headers?: Record<string, string>, body?: BodyOf }} [form]
 */
export function ready(port, form = {}) {
  const path = form.path ?? ((procedure) => `/rpc/${procedure}`);
  const headers = form.headers ?? { "content-type": "application/json" };
  const body = form.body ?? ((_, args) => JSON.stringify(args));
  const requests = Object.fromEntries(
    Object.entries(calls).map(([name, { procedure, args }]) => [
      name,
      { path: path(procedure), headers, body: body(procedure, args) },
    ]),
  );
  process.send?.({ url: `http://127.0.0.1:${port}`, requests });
}

/** Ends with a reason that the table shows. @param {string} problem */
export function unable(problem) {
  process.send?.({ problem });
}

/** Listens on a free port of this machine. @param {import("node:http").Server} server */
export const listen = (server, form = {}) =>
  server.listen(0, "127.0.0.1", () => ready(/** @type {any} */ (server.address()).port, form));
