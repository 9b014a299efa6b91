// What a running service is and holds, for main files, logs and tests.

import type { RoleFacts } from "../../src/roles/role.ts";
import type { Config } from "../config/config-types.ts";

/** What a service that runs procedures tells about itself. */
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

/** What a service is and holds; `mode` says which fields there are. It never holds a secret. */
export type ServerInfo = {
  /** Where the service listens. */
  readonly url: string;
} & (
  | ({ readonly mode: "standalone" } & NodeFacts)
  | ({
      readonly mode: "node";
      /** The gateway that it joins; absent if it joins none. */
      readonly gateway?: string | undefined;
      readonly repository: string;
    } & NodeFacts)
  | {
      readonly mode: "gateway";
      /** Addresses of the nodes that belong to it right now. */
      readonly members: readonly string[];
      readonly repository?: string | undefined;
    }
  | { readonly mode: "repository" }
  | {
      readonly mode: "proxy";
      /** Where calls go: this, or `node`. */
      readonly gateway?: string | undefined;
      readonly node?: string | undefined;
      readonly repository: string;
    }
);

/** The info of the service that `config` describes and that listens at `url`. */
export function serverInfo(config: Config, url: string, facts: RoleFacts): ServerInfo {
  const { segments = [], procedures = 0, members = [] } = facts;
  const routes = facts.routes?.length ?? 0;
  switch (config.mode) {
    case "standalone":
      return { mode: config.mode, url, name: config.name, segments, procedures, routes };
    case "node": {
      const { mode, name, gateway, repository } = config;
      return { mode, url, name, gateway, repository, segments, procedures, routes };
    }
    case "gateway":
      return { mode: config.mode, url, members, repository: config.repository };
    case "repository":
      return { mode: config.mode, url };
    case "proxy": {
      const { mode, gateway, node, repository } = config;
      return { mode, url, gateway, node, repository };
    }
  }
}

/** The line that a started service logs. */
export function startedLine(info: ServerInfo): string {
  const facts = factsOf(info);
  return `${info.mode} at ${info.url}${facts.length === 0 ? "" : ` (${facts.join("; ")})`}`;
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
      ];
    case "gateway":
      return [`members: ${list(info.members)}`];
    case "repository":
      return [];
    case "proxy":
      return [`calls: ${info.gateway ?? info.node}`, `files: ${info.repository}`];
  }
}
