// What a configuration is: as it is written, with words that editors show beside the keys (those of config-schema.ts, which a test compares), and
// checked (decisions §5), where defaults stand in for what was left out, paths are absolute, and addresses have no slash at the end.

import type { LogLevel } from "./log.ts";

/** What a deployment's services do (§1.3). */
export type Mode = "node" | "gateway" | "repository" | "proxy" | "standalone";

/** How much the service takes before it refuses (decisions §3). */
export interface LimitsConfig {
  /** Bytes of a request's body. @default 1048576 */
  readonly body?: number | undefined;
  /** Levels of nesting in arguments. @default 128 */
  readonly depth?: number | undefined;
  /** Values in one message. @default 100000 */
  readonly values?: number | undefined;
  /** Dates, maps, instances and the like that one message may make. @default 10000 */
  readonly objects?: number | undefined;
  /** Digits of a bigint. @default 10000 */
  readonly digits?: number | undefined;
  /** Parameters in a query string. @default 100 */
  readonly query?: number | undefined;
  /** Bytes of a request's headers. @default 16384 */
  readonly header?: number | undefined;
  /** Header fields of a request. @default 200 */
  readonly headerCount?: number | undefined;
  /** Milliseconds for a request's headers to arrive. @default 10000 */
  readonly headerTime?: number | undefined;
  /** Milliseconds for a whole request to arrive. @default 30000 */
  readonly requestTime?: number | undefined;
  /** Milliseconds in which a call must be answered. @default 30000 */
  readonly time?: number | undefined;
  /** Bytes that all callers together may make the service hold. Left out: a quarter of the memory that it may use. */
  readonly heldBytes?: number | undefined;
  /** Open connections, and as many calls to other services. @default 10000 */
  readonly connections?: number | undefined;
}

/** The service listens with https. */
export interface TlsConfig {
  /** Path of the certificate (PEM), with those between it and the authority's behind it. */
  readonly cert: string;
  /** Path of its private key (PEM). */
  readonly key: string;
  /** Of a private key that is encrypted: best from the environment, ${TLS_PASSPHRASE}. */
  readonly passphrase?: string | undefined;
  /** Path of further authorities (PEM) whose certificates other services may show, besides the well-known ones. */
  readonly ca?: string | undefined;
}

interface CommonInput {
  /** Where the service listens, and what it tells others: scheme, host and port. Port 0 takes a free one. */
  readonly url: string;
  /** What the services of a deployment show each other. Left out: the key in .seamline/key of the application folder. */
  readonly trustKey?: string | undefined;
  /** Where browsers find the application, or a list of such places. Left out: wherever they ask this service. */
  readonly origin?: string | readonly string[] | undefined;
  /** Further host names that requests may be for, besides those of 'origin' and 'url', localhost and addresses; ["*"] takes all. */
  readonly hosts?: readonly string[] | undefined;
  /** Believes x-forwarded-host and x-forwarded-proto: what stands in front must always set both. @default false */
  readonly forwarded?: boolean | undefined;
  /** Modules whose default export is a middleware, paths or packages. The last one runs first. */
  readonly middleware?: readonly string[] | undefined;
  /** Name → module whose default export is a health check. */
  readonly healthChecks?: Readonly<Record<string, string>> | undefined;
  /** How much the service takes before it refuses. */
  readonly limits?: LimitsConfig | undefined;
  /** The least important level that is written. @default "info" */
  readonly log?: LogLevel | undefined;
  /** The service listens with https. 'url' begins with https: then, and only then. */
  readonly tls?: TlsConfig | undefined;
}

interface ApplicationInput {
  /** The folder of modules and assets. @default "./src" */
  readonly source?: string | undefined;
  /** The folder of the build. @default "./dist" */
  readonly output?: string | undefined;
  /** The page at '/': a file in the source folder or in the application folder. @default "index.html" */
  readonly index?: string | undefined;
  /** Globs of files that are public, relative to the source folder. @default [] */
  readonly assets?: readonly string[] | undefined;
  /** Segments that browsers may load. Left out: those that startClient names in the pages. */
  readonly clients?: readonly string[] | undefined;
  /** Globs of further modules that client.import may load. All of them become public. */
  readonly clientModules?: readonly string[] | undefined;
  /** In development: nodes by name, and the segments that each holds. Left out: a node for each segment that is not for browsers alone. */
  readonly layout?: Readonly<Record<string, readonly string[]>> | undefined;
}

/** Runs the procedures of its segments (§2.4). */
export interface NodeInput extends CommonInput {
  readonly mode: "node";
  /** Told to callers as x-svc-node. */
  readonly name?: string | undefined;
  /** The gateway to join. Left out: a node that calls no others. */
  readonly gateway?: string | undefined;
  /** The repository, from which modules come. */
  readonly repository: string;
  /** Segments that it loads: names of segment files without .segment.json. */
  readonly segments: readonly string[];
  /** Where modules are kept between starts. Left out: node_modules/.cache/seamline. */
  readonly cache?: string | undefined;
}

/** Knows which node has which procedure, and passes calls on. */
export interface GatewayInput extends CommonInput {
  readonly mode: "gateway";
  /** Milliseconds between two health checks of a member. @default 5000 */
  readonly monitor?: number | undefined;
  /** For middleware that looks at arguments. Left out: instances pass unopened, and values of a GET are text. */
  readonly repository?: string | undefined;
  /** Host names, addresses and ranges (10.0.0.0/8) that members must be among. Left out: any but those that are always refused. */
  readonly members?: readonly string[] | undefined;
  /** Where the members are kept. @default "memory" */
  readonly directory?: "memory" | undefined;
  /** Shows what happens here to who holds the trust key, at /svc/console. @default false */
  readonly console?: boolean | undefined;
}

/** Holds the build: files for browsers, modules for nodes. */
export interface RepositoryInput extends CommonInput, ApplicationInput {
  readonly mode: "repository";
}

/** One address for everyone: calls go to a gateway or node, everything else to the repository. */
export interface ProxyInput extends CommonInput {
  readonly mode: "proxy";
  /** The gateway that calls go to. Either this or 'node'. */
  readonly gateway?: string | undefined;
  /** The one node that calls go to. Either this or 'gateway'. */
  readonly node?: string | undefined;
  /** The repository that everything else goes to. */
  readonly repository: string;
  /** Shows what happens here to who holds the trust key, at /svc/console. @default false */
  readonly console?: boolean | undefined;
}

/** Everything in one process. */
export interface StandaloneInput extends CommonInput, ApplicationInput {
  readonly mode: "standalone";
  /** Told to callers as x-svc-node. */
  readonly name?: string | undefined;
  /** Segments that it loads: names of segment files without .segment.json. Left out: all but those that only browsers load. */
  readonly segments?: readonly string[] | undefined;
  /** Where modules are kept between starts. Left out: node_modules/.cache/seamline. */
  readonly cache?: string | undefined;
  /** Shows what happens here to who holds the trust key, at /svc/console. @default false */
  readonly console?: boolean | undefined;
}

/** A configuration as it is written; `mode` says which keys there are. */
export type ConfigInput = NodeInput | GatewayInput | RepositoryInput | ProxyInput | StandaloneInput;

/** Those of `Keys` that were left out have their defaults. */
type Filled<Input, Keys extends keyof Input> = Omit<Input, Keys> & {
  readonly [Key in Keys]-?: Exclude<Input[Key], undefined>;
};
type ApplicationDefaults = "source" | "output" | "index" | "assets";

/** What a service that holds the application's files knows of them. */
export type ApplicationConfig = Filled<ApplicationInput, ApplicationDefaults>;
export type NodeConfig = NodeInput;
export type GatewayConfig = Filled<GatewayInput, "monitor" | "directory" | "console">;
export type RepositoryConfig = Filled<RepositoryInput, ApplicationDefaults>;
/** Exactly one of `gateway` and `node` is there. */
export type ProxyConfig = Filled<ProxyInput, "console">;
export type StandaloneConfig = Filled<StandaloneInput, ApplicationDefaults | "console">;

/** A checked configuration, told apart by `mode`. */
export type Config = NodeConfig | GatewayConfig | RepositoryConfig | ProxyConfig | StandaloneConfig;
