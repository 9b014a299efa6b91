// Written by `npm run configuration` from config-schema.ts: change a key or its words there.
// A configuration as it is written (`…Input`), and as it is after the checks (`…Config`), with
// defaults filled in, absolute paths, and addresses without a slash at the end.

/** What a service does. */
export type Mode = "node" | "gateway" | "repository" | "proxy" | "standalone";

export interface DirectoryTlsConfig {
  /** Path of certificate authorities (PEM). */
  readonly ca?: string | undefined;
  /** Path of this service's certificate (PEM), if the server asks for one. */
  readonly cert?: string | undefined;
  /** Path of its private key (PEM). */
  readonly key?: string | undefined;
}

export interface DirectoryConfig {
  /** Addresses of one or more of its servers: nats://host:4222, or tls:// for TLS. User and password, or a token, may stand in front of the host. */
  readonly nats: readonly string[];
  /** Path of a credentials file. */
  readonly creds?: string | undefined;
  /** Connects with TLS. Without 'ca', authorities are those that Node trusts. */
  readonly tls?: DirectoryTlsConfig | undefined;
  /** Prefix of the buckets' names: one for each deployment that uses the server. @default "seamline" */
  readonly prefix?: string | undefined;
}

export interface LimitsConfig {
  /** Bytes of a request's body. @default 1048576 */
  readonly bodyBytes?: number | undefined;
  /** Bytes of the body of a call with files, which is multipart/form-data. @default 33554432 */
  readonly uploadBytes?: number | undefined;
  /** Parts of such a body. @default 1000 */
  readonly uploadParts?: number | undefined;
  /** Levels of nesting in arguments. @default 128 */
  readonly maxDepth?: number | undefined;
  /** Values in one message. @default 100000 */
  readonly maxValues?: number | undefined;
  /** Dates, maps, instances and other objects in one message. @default 10000 */
  readonly maxObjects?: number | undefined;
  /** Digits of a bigint. @default 10000 */
  readonly maxDigits?: number | undefined;
  /** Parameters in a query string. @default 100 */
  readonly maxQueryParameters?: number | undefined;
  /** Bytes of a call's `locals`, at most 16384. @default 8192 */
  readonly localsBytes?: number | undefined;
  /** Bytes of a request's headers. @default 16384 */
  readonly headerBytes?: number | undefined;
  /** Header fields of a request. @default 200 */
  readonly headerCount?: number | undefined;
  /** Milliseconds in which a request's headers must arrive. @default 10000 */
  readonly headerTimeoutMs?: number | undefined;
  /** Milliseconds in which a whole request must arrive. @default 30000 */
  readonly requestTimeoutMs?: number | undefined;
  /** Milliseconds that a streamed body may stand still. @default 30000 */
  readonly idleTimeoutMs?: number | undefined;
  /** Milliseconds for which an idle connection stays open: longer than a balancer in front keeps it. @default 65000 */
  readonly keepAliveTimeoutMs?: number | undefined;
  /** Milliseconds in which a call must be answered. @default 30000 */
  readonly callTimeoutMs?: number | undefined;
  /** Milliseconds that a stream of a procedure may go without a byte, at least 20000. @default 60000 */
  readonly streamIdleMs?: number | undefined;
  /** Milliseconds after which the guard of a stream is asked again, and again. Default: 900000. If it is set, a stream without a guard is cut then. */
  readonly streamAgeMs?: number | undefined;
  /** Bytes that the service holds for all callers together. Default: a quarter of the memory that the process may use. */
  readonly heldBytes?: number | undefined;
  /** Bytes of one item of a stream. @default 1048576 */
  readonly itemBytes?: number | undefined;
  /** Streams that are open at once. @default 10000 */
  readonly maxStreams?: number | undefined;
  /** Calls that run at once, or are passed on. Fewer while the service has too much to do. @default 1000 */
  readonly maxCalls?: number | undefined;
  /** Open connections, and also calls in flight to other services. @default 10000 */
  readonly maxConnections?: number | undefined;
  /** Streams that one page may have open over its link. @default 256 */
  readonly streamsPerLink?: number | undefined;
  /** Links of pages for each public address, which is the caller's if 'forwarded' is set. @default 256 */
  readonly linksPerAddress?: number | undefined;
}

export type MetricsConfig =
  | {
      /** The bearer token that requests for /metrics must send. */
      readonly token: string;
    }
  | {
      /** A port of its own, open to anyone who can reach it. */
      readonly port: number;
      /** Where that port listens. Default: loopback. */
      readonly host?: string | undefined;
    };

export interface TracesConfig {
  /** The share of the traces that begin here, or come from outside, whose spans are recorded: 0 to 1. */
  readonly sample: number;
}

export interface TlsConfig {
  /** Path of the certificate (PEM), followed by its intermediate certificates. */
  readonly cert: string;
  /** Path of the private key (PEM). */
  readonly key: string;
  /** Passphrase of an encrypted private key, best taken from the environment: ${TLS_PASSPHRASE}. */
  readonly passphrase?: string | undefined;
  /** Path of certificate authorities (PEM) to trust in other services, besides the well-known ones. */
  readonly ca?: string | undefined;
}

export interface FallbackConfig {
  /** The path of a page. */
  readonly page: string;
  /** The status of its answers. */
  readonly status: 200 | 404;
}

export type OpenapiConfig =
  | true
  | {
      /** The bearer token that requests for the documents must send. */
      readonly token: string;
    };

interface CommonInput {
  /** Where the service listens, and how others reach it: scheme, host and port. Port 0 takes any free port. */
  readonly url: string;
  /** The secret that the services of a deployment share, or a list while it is changed: the first signs, all are accepted. Default: the key in .seamline/key of the application folder. */
  readonly trustKey?: string | readonly string[] | undefined;
  /** Where browsers find the application, one origin or a list. Default: any address at which they reach this service. */
  readonly origin?: string | readonly string[] | undefined;
  /** Host names that requests may be for, besides those of 'origin' and 'url', localhost and IP addresses. ["*"] accepts all. */
  readonly hosts?: readonly string[] | undefined;
  /** Trusts x-forwarded-host, x-forwarded-proto and the last address of x-forwarded-for: the proxy in front must always set all three. @default false */
  readonly forwarded?: boolean | undefined;
  /** Whether untrusted callers see the application's own errors, or only an id that is in the log. @default "shown" */
  readonly errors?: "shown" | "masked" | undefined;
  /** With "required", a public entry of a segment file that neither names a guard nor says "guard": false fails the build. A build reads it in the configuration of a repository or standalone, `seamline check` in any. */
  readonly guards?: "required" | undefined;
  /** Whether arguments of callers from outside are checked by the types of parameters, where an entry of a segment file doesn't say. It is read in the same configurations as 'guards'. @default true */
  readonly validate?: boolean | undefined;
  /** Paths or packages of modules whose default export is a middleware. The last one runs first. */
  readonly middleware?: readonly string[] | undefined;
  /** Health checks by name: paths or packages of modules whose default export is one. */
  readonly healthChecks?: Readonly<Record<string, string>> | undefined;
  /** Limits of what the service accepts. */
  readonly limits?: LimitsConfig | undefined;
  /** Milliseconds from the signal to stop until calls that still run are cut. @default 10000 */
  readonly drainMs?: number | undefined;
  /** The least important level that is logged. @default "info" */
  readonly log?: "info" | "warn" | "error" | "none" | undefined;
  /** Logs each request: its path without the query, status and time. @default false */
  readonly accessLog?: boolean | undefined;
  /** Metrics for Prometheus: { "token": "…" } at /metrics, or { "port": 9100 } at a port of their own. Default: none. */
  readonly metrics?: MetricsConfig | undefined;
  /** Gives each request a place in a trace: true, or { "sample": 0.1 } for the share that is recorded. There are spans if the application has '@opentelemetry/api'. @default false */
  readonly traces?: boolean | TracesConfig | undefined;
  /** Listens with https. 'url' must then begin with https:, and with http: otherwise. */
  readonly tls?: TlsConfig | undefined;
  /** Whether TLS between services ends at the services themselves: false where a balancer or an ingress ends it, at both services. @default true */
  readonly endToEndTls?: boolean | undefined;
}

interface ApplicationInput {
  /** The folder with the modules and assets. @default "./src" */
  readonly source?: string | undefined;
  /** The folder for the build. @default "./dist" */
  readonly output?: string | undefined;
  /** The page at '/': a file in the source folder or in the application folder. @default "index.html" */
  readonly index?: string | undefined;
  /** The page that answers when a browser requests a page at an address without a file: true is the index, or the path of another page; { "page": "404.html", "status": 404 } says that nothing is there. Default: the index if Vite's appType is "spa". */
  readonly fallback?: boolean | string | FallbackConfig | undefined;
  /** Headers of files and pages: globs of URL paths, each with its headers. All globs that match apply, and for one header the last. */
  readonly headers?: Readonly<Record<string, Readonly<Record<string, string>>>> | undefined;
  /** How many earlier builds stay served, for pages and nodes that have begun with them. A build keeps as many. @default 1 */
  readonly revisions?: number | undefined;
  /** Globs of public files, relative to the source folder. @default [] */
  readonly assets?: readonly string[] | undefined;
  /** Segments that browsers may load. Default: those that the pages pass to startClient. */
  readonly browserSegments?: readonly string[] | undefined;
  /** Globs of more modules that client.import may load. All of them become public. */
  readonly browserModules?: readonly string[] | undefined;
  /** Serves /svc/openapi.json, the OpenAPI document of what is public: true, or { "token": "…" } for those who send it. A build then refuses two operations of one id. Default: none. */
  readonly openapi?: OpenapiConfig | undefined;
  /** In development: the nodes by name, with the segments of each. Default: one node per segment that isn't only for browsers. */
  readonly nodes?: Readonly<Record<string, readonly string[]>> | undefined;
}

/** Runs the procedures of its segments. */
export interface NodeInput extends CommonInput {
  readonly mode: "node";
  /** The name that callers see as x-svc-node. */
  readonly name?: string | undefined;
  /** The gateway to join, or a list of them: the node joins each. Without one, it can't call other nodes. */
  readonly gateway?: string | readonly string[] | undefined;
  /** Finds the gateways to join, instead of 'gateway'. */
  readonly directory?: DirectoryConfig | undefined;
  /** The repository that the modules come from. */
  readonly repository: string;
  /** Segments to load: names of segment files without .segment.json. */
  readonly segments: readonly string[];
  /** The folder that keeps modules between starts. Default: node_modules/.cache/seamline. */
  readonly cache?: string | undefined;
  /** Compresses answers to calls over 4 KB with gzip, for callers that accept it. A mounted service leaves it to its server. @default true */
  readonly compression?: boolean | undefined;
}

/** Knows which node has which procedure, and forwards calls. */
export interface GatewayInput extends CommonInput {
  readonly mode: "gateway";
  /** Milliseconds between two health checks of a member. @default 1000 */
  readonly healthIntervalMs?: number | undefined;
  /** Tells nodes and proxies where this gateway is. */
  readonly directory?: DirectoryConfig | undefined;
  /** Needed by middleware that reads arguments. Without it, instances aren't decoded, and values of a GET are strings. */
  readonly repository?: string | undefined;
  /** Compresses answers to calls over 4 KB with gzip, for callers that accept it. A mounted service leaves it to its server. @default true */
  readonly compression?: boolean | undefined;
  /** Names of headers that pages may add to each stream of their link, besides authorization, accept-language, traceparent and last-event-id. One that the proxy in front has set on the link stays as it is. */
  readonly streamHeaders?: readonly string[] | undefined;
  /** Serves the console at /svc/console, for holders of the trust key. @default false */
  readonly console?: boolean | undefined;
}

/** Holds the build: files for browsers, modules for nodes. */
export interface RepositoryInput extends CommonInput, ApplicationInput {
  readonly mode: "repository";
}

/** One address for everyone: calls go to a gateway or node, everything else to the repository. */
export interface ProxyInput extends CommonInput {
  readonly mode: "proxy";
  /** The gateway that calls go to, or a list of them, which then take turns. Set one of this, 'node' and 'directory'. */
  readonly gateway?: string | readonly string[] | undefined;
  /** The node that calls go to. Set one of this, 'gateway' and 'directory'. */
  readonly node?: string | undefined;
  /** Finds the gateways that calls go to. Set one of this, 'gateway' and 'node'. */
  readonly directory?: DirectoryConfig | undefined;
  /** The repository that everything else goes to. */
  readonly repository: string;
  /** Compresses answers to calls over 4 KB with gzip, for callers that accept it. A mounted service leaves it to its server. @default true */
  readonly compression?: boolean | undefined;
  /** Names of headers that pages may add to each stream of their link, besides authorization, accept-language, traceparent and last-event-id. One that the proxy in front has set on the link stays as it is. */
  readonly streamHeaders?: readonly string[] | undefined;
  /** Serves the console at /svc/console, for holders of the trust key. @default false */
  readonly console?: boolean | undefined;
}

/** Everything in one process. */
export interface StandaloneInput extends CommonInput, ApplicationInput {
  readonly mode: "standalone";
  /** The name that callers see as x-svc-node. */
  readonly name?: string | undefined;
  /** Segments to load: names of segment files without .segment.json. Default: all but those of browsers. */
  readonly segments?: readonly string[] | undefined;
  /** The folder that keeps modules between starts. Default: node_modules/.cache/seamline. */
  readonly cache?: string | undefined;
  /** Compresses answers to calls over 4 KB with gzip, for callers that accept it. A mounted service leaves it to its server. @default true */
  readonly compression?: boolean | undefined;
  /** Names of headers that pages may add to each stream of their link, besides authorization, accept-language, traceparent and last-event-id. One that the proxy in front has set on the link stays as it is. */
  readonly streamHeaders?: readonly string[] | undefined;
  /** Serves the console at /svc/console, for holders of the trust key. @default false */
  readonly console?: boolean | undefined;
}

/** A configuration as it is written; `mode` decides which keys there are. */
export type ConfigInput = NodeInput | GatewayInput | RepositoryInput | ProxyInput | StandaloneInput;

/** `Input` with the defaults of `Keys` filled in. */
type Filled<Input, Keys extends keyof Input> = Omit<Input, Keys> & {
  readonly [Key in Keys]-?: Exclude<Input[Key], undefined>;
};

export type ApplicationConfig = Filled<
  ApplicationInput,
  "source" | "output" | "index" | "revisions" | "assets"
>;
export type NodeConfig = NodeInput;
export type GatewayConfig = Filled<GatewayInput, "console">;
export type RepositoryConfig = Filled<
  RepositoryInput,
  "source" | "output" | "index" | "revisions" | "assets"
>;
export type ProxyConfig = Filled<ProxyInput, "console">;
export type StandaloneConfig = Filled<
  StandaloneInput,
  "source" | "output" | "index" | "revisions" | "assets" | "console"
>;

/** A checked configuration. */
export type Config = NodeConfig | GatewayConfig | RepositoryConfig | ProxyConfig | StandaloneConfig;
