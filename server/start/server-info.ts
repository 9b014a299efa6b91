// Facts about a running service, for main files, logs and tests.

import type { Way } from "../../src/roles/links/dialled-link.ts";
import type { RoleFacts } from "../../src/roles/pipeline/role-facts.ts";
import type { Config } from "../config/config-types.ts";

/** Facts about a service that runs procedures. */
interface NodeFacts {
  /** The name that callers see as `x-svc-node`. */
  readonly name?: string | undefined;
  /** The segments that it has loaded. */
  readonly segments: readonly string[];
  /** How many procedures they hold; each version counts. */
  readonly procedures: number;
  /** How many routes they hold. */
  readonly routes: number;
}

/** The kind and state of a service; `mode` says which fields there are. Never contains a secret. */
export type ServerInfo = {
  /** Where the service listens. */
  readonly url: string;
} & (
  | ({ readonly mode: "standalone" } & NodeFacts)
  | ({
      readonly mode: "node";
      /** The gateways that it joins, as configured; absent if it joins none. */
      readonly gateway?: string | readonly string[] | undefined;
      /** The servers of the directory in which it finds gateways instead. */
      readonly directory?: readonly string[] | undefined;
      /** Its link to each known gateway. */
      readonly ways: readonly Way[];
      readonly repository: string;
    } & NodeFacts)
  | {
      readonly mode: "gateway";
      /** Addresses of the nodes that belong to it right now. */
      readonly members: readonly string[];
      /** The servers of the directory in which it announces itself. */
      readonly directory?: readonly string[] | undefined;
      readonly repository?: string | undefined;
    }
  | { readonly mode: "repository" }
  | {
      readonly mode: "proxy";
      /** The gateways that take calls; `node` if that does. */
      readonly gateway?: string | readonly string[] | undefined;
      readonly node?: string | undefined;
      /** The servers of the directory in which it finds gateways instead. */
      readonly directory?: readonly string[] | undefined;
      /** Its link to each known gateway. */
      readonly ways: readonly Way[];
      readonly repository: string;
    }
);

/**
 * The info of the service that `config` describes and that listens at `url`. `directory` has the addresses of
 * the servers of its directory, if it has one.
 */
export function serverInfo(
  config: Config,
  url: string,
  facts: RoleFacts,
  directory?: readonly string[],
): ServerInfo {
  const { segments = [], procedures = 0, members = [], ways = [] } = facts;
  const routes = facts.routes?.length ?? 0;
  const found = directory === undefined ? {} : { directory };
  switch (config.mode) {
    case "standalone":
      return { mode: config.mode, url, name: config.name, segments, procedures, routes };
    case "node": {
      const { mode, name, gateway, repository } = config;
      return { mode, url, name, gateway, ...found, ways, repository, segments, procedures, routes };
    }
    case "gateway":
      return { mode: config.mode, url, members, ...found, repository: config.repository };
    case "repository":
      return { mode: config.mode, url };
    case "proxy": {
      const { mode, gateway, node, repository } = config;
      return { mode, url, gateway, node, ...found, ways, repository };
    }
  }
}

/** The line that a started service logs. */
export function startedLine(info: ServerInfo): string {
  const facts = factsOf(info);
  return `${info.mode} at ${info.url}${facts.length === 0 ? "" : ` (${facts.join("; ")})`}`;
}

/** A service, and the kind of connection to it. */
function wayText({ to, isLinked, because }: Way): string {
  return isLinked ? to : `${to}, no link yet: ${because}`;
}

function waysText(ways: readonly Way[]): string {
  return ways.map(wayText).join(", ") || "none is known yet";
}

function factsOf(info: ServerInfo): string[] {
  const list = (names: readonly string[]): string => names.join(", ") || "none";
  switch (info.mode) {
    case "standalone":
    case "node":
      return [
        `segments: ${list(info.segments)}`,
        `procedures: ${info.procedures}`,
        ...(info.routes === 0 ? [] : [`routes: ${info.routes}`]),
        ...(info.mode === "node" && (info.gateway ?? info.directory) !== undefined
          ? [`${info.ways.length > 1 ? "gateways" : "gateway"}: ${waysText(info.ways)}`]
          : []),
      ];
    case "gateway":
      return [
        `members: ${list(info.members)}`,
        ...(info.directory === undefined ? [] : [`directory: ${list(info.directory)}`]),
      ];
    case "repository":
      return [];
    case "proxy":
      return [`calls: ${waysText(info.ways)}`, `files: ${info.repository}`];
  }
}
