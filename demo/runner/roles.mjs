// The services to start, read from the configurations that `seamline start` reads too.
import { readFile } from "node:fs/promises";
import { join } from "node:path";

/** @typedef {{ label: string, mode: string, config: string, url: string, port: number, segments: string[] | undefined }} Role */

// In start order: each needs the ones before it, and stops before them.
const cluster = ["repository", "gateway", "node-a", "node-b", "proxy"];
const offsets = { PORT: 0, GATEWAY_PORT: 1, REPOSITORY_PORT: 2, NODE_A_PORT: 3, NODE_B_PORT: 4 };

/**
 * One variable moves the whole cluster: SEAMLINE_DEMO_PORT=8400 takes 8400 to 8404.
 * @param {NodeJS.ProcessEnv} variables
 * @returns {NodeJS.ProcessEnv}
 */
export function portsOf(variables) {
  const environment = { ...variables };
  const base = environment["SEAMLINE_DEMO_PORT"];
  if (base === undefined || base === "") return environment;
  if (!/^\d+$/.test(base) || Number(base) < 1 || Number(base) > 65_531)
    throw new Error(
      `SEAMLINE_DEMO_PORT is '${base}': give the first of five ports, a number from 1 to 65531`,
    );
  for (const [name, offset] of Object.entries(offsets))
    environment[`SEAMLINE_DEMO_${name}`] ??= String(Number(base) + offset);
  return environment;
}

/**
 * @param {string} folder
 * @param {boolean} standalone
 * @param {NodeJS.ProcessEnv} environment
 * @returns {Promise<Role[]>}
 */
export async function readRoles(folder, standalone, environment) {
  return await Promise.all(
    (standalone ? ["standalone"] : cluster).map(async (name) => {
      const config = join("config", `${name}.json`);
      const text = await readFile(join(folder, config), "utf8");
      const {
        mode,
        name: label = mode,
        url,
        segments,
      } = JSON.parse(
        text.replaceAll(
          /\$\{(\w+):-([^}]*)\}/g,
          (_, key, otherwise) => environment[key] || otherwise,
        ),
      );
      return {
        label: mode === "standalone" ? mode : label,
        mode,
        config,
        url,
        port: Number(new URL(url).port),
        segments,
      };
    }),
  );
}
