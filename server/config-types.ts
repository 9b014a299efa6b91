// What a checked configuration is (decisions §5). Paths are absolute, addresses have no slash at the end.

import type { LogLevel } from "./log.ts";

/** What a deployment's services do (§1.3). */
export type Mode = "node" | "gateway" | "repository" | "proxy" | "standalone";

/** Limits that a configuration sets; one that it leaves out keeps its default (decisions §3). */
export interface LimitsConfig {
  /** Bytes of a request's body. */
  readonly body?: number | undefined;
  readonly depth?: number | undefined;
  readonly values?: number | undefined;
  readonly objects?: number | undefined;
  /** Of a bigint. */
  readonly digits?: number | undefined;
  /** Query parameters. */
  readonly query?: number | undefined;
  /** Bytes of a request's headers. */
  readonly header?: number | undefined;
  /** Ms for a request's headers to arrive. */
  readonly headerTime?: number | undefined;
  /** Ms for a whole request to arrive. */
  readonly requestTime?: number | undefined;
  /** Ms for a call to be answered. */
  readonly time?: number | undefined;
  readonly connections?: number | undefined;
}

/** Paths are absolute. */
export interface TlsConfig {
  readonly cert: string;
  readonly key: string;
  readonly passphrase?: string | undefined;
  readonly ca?: string | undefined;
}

interface CommonConfig {
  readonly url: string;
  readonly trustKey?: string | undefined;
  /** Packages, or absolute paths of modules (decisions §6, configured modules). */
  readonly middleware?: readonly string[] | undefined;
  readonly healthChecks?: Readonly<Record<string, string>> | undefined;
  readonly limits?: LimitsConfig | undefined;
  readonly log?: LogLevel | undefined;
  readonly tls?: TlsConfig | undefined;
}

/** What a service that holds the application's files knows of them. */
export interface ApplicationConfig {
  readonly source: string;
  readonly output: string;
  /** Looked up in `source`, then in the application folder. */
  readonly index: string;
  /** Globs relative to `source`. */
  readonly assets: readonly string[];
  readonly clients?: readonly string[] | undefined;
  readonly clientModules?: readonly string[] | undefined;
}

/** §2.4. */
export interface NodeConfig extends CommonConfig {
  readonly mode: "node";
  /** Told to callers as `x-svc-node`. */
  readonly name?: string | undefined;
  readonly gateway?: string | undefined;
  readonly repository: string;
  readonly segments: readonly string[];
  readonly cache?: string | undefined;
}

export interface GatewayConfig extends CommonConfig {
  readonly mode: "gateway";
  /** Ms between two health checks of a member. */
  readonly monitor: number;
  /** For middleware that looks at arguments: without it class instances pass unopened. */
  readonly repository?: string | undefined;
  readonly directory: "memory";
}

export interface RepositoryConfig extends CommonConfig, ApplicationConfig {
  readonly mode: "repository";
}

/** Exactly one of `gateway` and `node` is there. */
export interface ProxyConfig extends CommonConfig {
  readonly mode: "proxy";
  readonly gateway?: string | undefined;
  readonly node?: string | undefined;
  readonly repository: string;
}

export interface StandaloneConfig extends CommonConfig, ApplicationConfig {
  readonly mode: "standalone";
  /** Told to callers as `x-svc-node`. */
  readonly name?: string | undefined;
  /** Left out: all but those that only browsers load. */
  readonly segments?: readonly string[] | undefined;
  readonly cache?: string | undefined;
}

/** A checked configuration, told apart by `mode`. */
export type Config = NodeConfig | GatewayConfig | RepositoryConfig | ProxyConfig | StandaloneConfig;
