// Every key of a configuration, once: its values, its default, and the words that editors and the
// reference show. `npm run configuration` makes config-types.ts and docs/reference/configuration.md of
// it, the build the JSON Schema.

import * as v from "valibot";
import {
  defaultDrainMs,
  defaultHealthIntervalMs,
  defaultRevisions,
  longestTimeMs,
} from "../../src/base/protocol.ts";
import { defaultLimits } from "../../src/base/limits.ts";
import { listenPattern } from "./config-address.ts";
import { address, addresses, hostName, origins } from "./config-address-schema.ts";
import { defaultDirectoryPrefix } from "./config-directory.ts";
import {
  headerGlobProblem,
  headerProblem,
  streamHeaderPattern,
  streamHeaderProblem,
} from "./config-headers.ts";
import type { Config, ConfigInput, Mode } from "./config-types.ts";
import { trustKeyProblem } from "./key.ts";
import { type Described, filled, optional, required } from "./schema-key.ts";
import { parsedUrl } from "../../src/base/url.ts";

const string = v.pipe(
  v.string("expected a string"),
  v.nonEmpty("expected a string that isn't empty"),
);
const strings = v.array(string, "expected a list of strings");
const ownName = v.pipe(v.string(), v.nonEmpty("expected a name that isn't empty"));
const boolean = v.boolean("expected true or false");
const integer = v.pipe(v.number("expected a number"), v.safeInteger("expected a whole number"));
const wholeNumber = v.pipe(integer, v.minValue(1, "expected a number of at least 1"));

const milliseconds = v.pipe(
  wholeNumber,
  v.maxValue(longestTimeMs, `expected a number of at most ${longestTimeMs}, which is a day`),
);

const names = v.pipe(
  strings,
  v.rawCheck(({ dataset, addIssue }) => {
    if (!dataset.typed) return;
    for (const [index, name] of dataset.value.entries())
      if (dataset.value.indexOf(name) < index)
        addIssue({
          message: `'${name}' is listed twice`,
          path: [{ type: "array", origin: "value", input: dataset.value, key: index, value: name }],
        });
  }),
  v.metadata({ uniqueItems: true }),
);

type LimitName = keyof typeof defaultLimits;

/** Limits by their names, each with its sentence; defaults are those of {@link defaultLimits}. */
function limitKeys<S extends v.GenericSchema, Name extends LimitName>(
  schema: S,
  descriptions: Readonly<Record<Name, string>>,
): Readonly<Record<Name, Described<v.OptionalSchema<S, undefined>>>> {
  const keys = (Object.keys(descriptions) as Name[]).map((name) => {
    const facts = { description: descriptions[name], default: defaultLimits[name] };
    return [name, optional(schema, facts)];
  });
  return Object.fromEntries(keys) as ReturnType<typeof limitKeys<S, Name>>;
}

const limits = v.pipe(
  v.strictObject(
    {
      ...limitKeys(wholeNumber, {
        bodyBytes: "Bytes of a request's body.",
        uploadBytes: "Bytes of the body of a call with files, which is multipart/form-data.",
        uploadParts: "Parts of such a body.",
        maxDepth: "Levels of nesting in arguments.",
        maxValues: "Values in one message.",
        maxObjects: "Dates, maps, instances and other objects in one message.",
        maxDigits: "Digits of a bigint.",
        maxQueryParameters: "Parameters in a query string.",
      }),
      // They travel in a header field, for which services leave room.
      ...limitKeys(v.pipe(wholeNumber, v.maxValue(16_384, "expected a number of at most 16384")), {
        localsBytes: "Bytes of a call's `locals`, at most 16384.",
      }),
      ...limitKeys(wholeNumber, {
        headerBytes: "Bytes of a request's headers.",
        headerCount: "Header fields of a request.",
      }),
      ...limitKeys(milliseconds, {
        headerTimeoutMs: "Milliseconds in which a request's headers must arrive.",
        requestTimeoutMs: "Milliseconds in which a whole request must arrive.",
        idleTimeoutMs: "Milliseconds that a streamed body may stand still.",
        keepAliveTimeoutMs:
          "Milliseconds for which an idle connection stays open: longer than a balancer in front keeps it.",
        callTimeoutMs: "Milliseconds in which a call must be answered.",
      }),
      // A stream without items shows every 15 s that it lives.
      ...limitKeys(
        v.pipe(milliseconds, v.minValue(20_000, "expected a number of at least 20000")),
        {
          streamIdleMs:
            "Milliseconds that a stream of a procedure may go without a byte, at least 20000.",
        },
      ),
      streamAgeMs: optional(milliseconds, {
        description:
          "Milliseconds after which the guard of a stream is asked again, and again. Default: 900000. If it is set, a stream without a guard is cut then.",
      }),
      heldBytes: optional(wholeNumber, {
        description:
          "Bytes that the service holds for all callers together. Default: a quarter of the memory that the process may use.",
      }),
      ...limitKeys(wholeNumber, {
        itemBytes: "Bytes of one item of a stream.",
        maxStreams: "Streams that are open at once.",
        maxCalls:
          "Calls that run at once, or are passed on. Fewer while the service has too much to do.",
        maxConnections: "Open connections, and also calls in flight to other services.",
        streamsPerLink: "Streams that one page may have open over its link.",
        linksPerAddress:
          "Links of pages for each public address, which is the caller's if 'forwarded' is set.",
      }),
    },
    "expected an object of numbers",
  ),
  v.title("LimitsConfig"),
);

const tls = v.pipe(
  v.strictObject(
    {
      cert: required(string, {
        description: "Path of the certificate (PEM), followed by its intermediate certificates.",
        missing: "Give the path of the certificate, a PEM file",
        path: "file",
      }),
      key: required(string, {
        description: "Path of the private key (PEM).",
        missing: "Give the path of the certificate's private key, a PEM file",
        path: "file",
      }),
      passphrase: optional(string, {
        description:
          "Passphrase of an encrypted private key, best taken from the environment: ${TLS_PASSPHRASE}.",
        isSecret: true,
      }),
      ca: optional(string, {
        description:
          "Path of certificate authorities (PEM) to trust in other services, besides the well-known ones.",
        path: "file",
      }),
    },
    'expected { "cert": "./cert.pem", "key": "./key.pem" }',
  ),
  v.title("TlsConfig"),
);

/** The form of such a server's address, for the JSON Schema; only `URL` knows whether it is valid. */
const natsPattern =
  /^(?:nats|tls):\/\/(?:[^\s/?#@]+@)?(?:\[[\da-fA-F:.]+\]|[^\s/?#@:\\[\]]+)(?::\d{1,5})?\/?$/;

/** The address of a NATS server, maybe with a password. */
const natsAddress: v.GenericSchema<string> = v.pipe(
  v.string("expected an address such as nats://127.0.0.1:4222"),
  v.rawCheck(({ dataset, addIssue }) => {
    if (!dataset.typed || (natsPattern.test(dataset.value) && parsedUrl(dataset.value))) return;
    addIssue({
      message: "it isn't the address of a NATS server: give one such as nats://127.0.0.1:4222",
    });
  }),
  v.metadata({ pattern: natsPattern.source }),
);

const directory = v.pipe(
  v.strictObject(
    {
      nats: required(
        v.pipe(
          v.array(natsAddress, "expected a list of addresses, such as nats://127.0.0.1:4222"),
          v.minLength(1, "expected a list with the address of at least one server"),
        ),
        {
          description:
            "Addresses of one or more of its servers: nats://host:4222, or tls:// for TLS. User and password, or a token, may stand in front of the host.",
          missing: 'Give the addresses of NATS servers, such as ["nats://127.0.0.1:4222"]',
          isSecret: true,
        },
      ),
      creds: optional(string, { description: "Path of a credentials file.", path: "file" }),
      tls: optional(
        v.pipe(
          v.strictObject(
            {
              ca: optional(string, {
                description: "Path of certificate authorities (PEM).",
                path: "file",
              }),
              cert: optional(string, {
                description:
                  "Path of this service's certificate (PEM), if the server asks for one.",
                path: "file",
              }),
              key: optional(string, {
                description: "Path of its private key (PEM).",
                path: "file",
              }),
            },
            'expected an object, such as { "ca": "./ca.pem" }',
          ),
          v.title("DirectoryTlsConfig"),
        ),
        { description: "Connects with TLS. Without 'ca', authorities are those that Node trusts." },
      ),
      prefix: optional(
        v.pipe(string, v.regex(/^[\w-]{1,64}$/, "expected 1 to 64 letters, digits, '-' and '_'")),
        {
          description:
            "Prefix of the buckets' names: one for each deployment that uses the server.",
          default: defaultDirectoryPrefix,
        },
      ),
    },
    'expected { "nats": ["nats://127.0.0.1:4222"] }',
  ),
  v.title("DirectoryConfig"),
);

const share = "expected a number from 0 to 1";
const traces = v.union(
  [
    boolean,
    v.pipe(
      v.strictObject({
        sample: required(v.pipe(v.number(share), v.minValue(0, share), v.maxValue(1, share)), {
          description:
            "The share of the traces that begin here, or come from outside, whose spans are recorded: 0 to 1.",
        }),
      }),
      v.title("TracesConfig"),
    ),
  ],
  'expected true, false, or { "sample": 0.1 } with a number from 0 to 1',
);

/** A secret that requests show. */
const bearerToken = v.pipe(
  string,
  v.regex(/^[!-~]{16,256}$/, "expected 16 to 256 printable ASCII characters without blanks"),
);

const openapi = v.pipe(
  v.union(
    [
      v.literal(true),
      v.strictObject({
        token: required(bearerToken, {
          description: "The bearer token that requests for the documents must send.",
          isSecret: true,
        }),
      }),
    ],
    'expected true, or { "token": "…" } with 16 to 256 printable ASCII characters',
  ),
  v.title("OpenapiConfig"),
);

const metrics = v.pipe(
  v.union(
    [
      v.strictObject({
        token: required(bearerToken, {
          description: "The bearer token that requests for /metrics must send.",
          isSecret: true,
        }),
      }),
      v.strictObject({
        port: required(v.pipe(wholeNumber, v.maxValue(65_535, "expected a port, 1 to 65535")), {
          description: "A port of its own, open to anyone who can reach it.",
        }),
        host: optional(
          v.pipe(
            v.string("expected a string"),
            v.regex(
              listenPattern,
              "expected an address or host name such as 127.0.0.1, without scheme",
            ),
          ),
          { description: "Where that port listens. Default: loopback." },
        ),
      }),
    ],
    'expected { "token": "…" } with 16 to 256 printable ASCII characters, or { "port": 9100 }',
  ),
  v.title("MetricsConfig"),
);

const trustKey = v.pipe(v.string(), v.metadata({ pattern: "^[!-~]+$" }));
const trustKeys = v.pipe(
  v.union(
    [
      trustKey,
      v.pipe(v.array(trustKey), v.minLength(1, "expected a string, or a list with at least one")),
    ],
    "expected a string, or a list of strings with the one first that signs",
  ),
  v.rawCheck(({ dataset, addIssue }) => {
    if (!dataset.typed) return;
    const keys = [dataset.value].flat();
    for (const [index, key] of keys.entries()) {
      const problem = trustKeyProblem(key);
      if (problem === undefined) continue;
      const which = typeof dataset.value === "string" ? "it" : `key ${index + 1} of the list`;
      addIssue({ message: `${which} ${problem}` });
    }
  }),
);

const missingAddress = "Give an address such as http://127.0.0.1:3000";

const common = {
  url: required(address, {
    description:
      "Where the service listens, and how others reach it: scheme, host and port. Port 0 takes any free port.",
    missing: missingAddress,
  }),
  trustKey: optional(trustKeys, {
    description:
      "The secret that the services of a deployment share, or a list while it is changed: the first signs, all are accepted. Default: the key in .seamline/key of the application folder.",
    guide: "access.md#the-trust-key",
    isSecret: true,
  }),
  origin: optional(origins, {
    description:
      "Where browsers find the application, one origin or a list. Default: any address at which they reach this service.",
    guide: "deployment.md#hosts-and-the-public-origin",
  }),
  hosts: optional(v.array(hostName, "expected a list of host names"), {
    description:
      "Host names that requests may be for, besides those of 'origin' and 'url', localhost and IP addresses. [\"*\"] accepts all.",
    guide: "deployment.md#hosts-and-the-public-origin",
  }),
  forwarded: optional(boolean, {
    description:
      "Trusts x-forwarded-host, x-forwarded-proto and the last address of x-forwarded-for: the proxy in front must always set all three.",
    default: false,
    guide: "deployment.md#hosts-and-the-public-origin",
  }),
  errors: optional(v.picklist(["shown", "masked"], 'expected "shown" or "masked"'), {
    description:
      "Whether untrusted callers see the application's own errors, or only an id that is in the log.",
    default: "shown",
    guide: "errors.md#masked-errors",
  }),
  guards: optional(v.picklist(["required"], 'expected "required"'), {
    description:
      'With "required", a public entry of a segment file that neither names a guard nor says "guard": false fails the build. A build reads it in the configuration of a repository or standalone, `seamline check` in any.',
    guide: "guards.md#so-that-none-is-forgotten",
  }),
  validate: optional(boolean, {
    description:
      "Whether arguments of callers from outside are checked by the types of parameters, where an entry of a segment file doesn't say. It is read in the same configurations as 'guards'.",
    default: true,
    guide: "checking-arguments.md#without-checks",
  }),
  middleware: optional(strings, {
    description:
      "Paths or packages of modules whose default export is a middleware. The last one runs first.",
    guide: "middleware.md",
    path: "module",
  }),
  healthChecks: optional(
    v.record(ownName, string, "expected an object of names and module paths"),
    {
      description:
        "Health checks by name: paths or packages of modules whose default export is one.",
      guide: "health.md",
      path: "module",
    },
  ),
  limits: optional(limits, { description: "Limits of what the service accepts." }),
  drainMs: optional(milliseconds, {
    description: "Milliseconds from the signal to stop until calls that still run are cut.",
    default: defaultDrainMs,
    guide: "deployment.md#stopping",
  }),
  log: optional(
    v.picklist(["info", "warn", "error", "none"], "expected info, warn, error or none"),
    {
      description: "The least important level that is logged.",
      default: "info",
      guide: "operations.md#the-log",
    },
  ),
  accessLog: optional(boolean, {
    description: "Logs each request: its path without the query, status and time.",
    default: false,
    guide: "operations.md#requests",
  }),
  metrics: optional(metrics, {
    description:
      'Metrics for Prometheus: { "token": "…" } at /metrics, or { "port": 9100 } at a port of their own. Default: none.',
    guide: "operations.md#metrics",
  }),
  traces: optional(traces, {
    description:
      "Gives each request a place in a trace: true, or { \"sample\": 0.1 } for the share that is recorded. There are spans if the application has '@opentelemetry/api'.",
    default: false,
    guide: "operations.md#traces",
  }),
  tls: optional(tls, {
    description: "Listens with https. 'url' must then begin with https:, and with http: otherwise.",
    guide: "deployment.md#tls-without-anything-in-front",
  }),
  endToEndTls: optional(boolean, {
    description:
      "Whether TLS between services ends at the services themselves: false where a balancer or an ingress ends it, at both services.",
    default: true,
  }),
};

const headers = v.pipe(
  v.record(
    v.string(),
    v.record(v.string(), v.string("expected a string"), "expected an object of headers"),
    'expected an object of globs and headers, { "/**": { "x-frame-options": "DENY" } }',
  ),
  v.rawCheck(({ dataset, addIssue }) => {
    if (!dataset.typed) return;
    const input = dataset.value;
    const at = (key: string, value: unknown, within: Record<string, unknown>) =>
      ({ type: "object", origin: "value", input: within, key, value }) as const;
    for (const [glob, fields] of Object.entries(input)) {
      const place = at(glob, fields, input);
      const wrongGlob = headerGlobProblem(glob);
      if (wrongGlob !== undefined) addIssue({ message: wrongGlob, path: [place] });
      for (const [name, value] of Object.entries(fields)) {
        const message = headerProblem(name, value);
        if (message !== undefined) addIssue({ message, path: [place, at(name, value, fields)] });
      }
    }
  }),
);

const fallback = v.union(
  [
    boolean,
    string,
    v.pipe(
      v.strictObject({
        page: required(string, { description: "The path of a page." }),
        status: required(v.picklist([200, 404]), { description: "The status of its answers." }),
      }),
      v.title("FallbackConfig"),
    ),
  ],
  'expected true, false, the path of a page, or { "page": "404.html", "status": 404 }',
);

const application = {
  source: filled(string, "./src", {
    description: "The folder with the modules and assets.",
    path: "file",
  }),
  output: filled(string, "./dist", { description: "The folder for the build.", path: "file" }),
  index: filled(string, "index.html", {
    description: "The page at '/': a file in the source folder or in the application folder.",
  }),
  fallback: optional(fallback, {
    description:
      'The page that answers when a browser requests a page at an address without a file: true is the index, or the path of another page; { "page": "404.html", "status": 404 } says that nothing is there. Default: the index if Vite\'s appType is "spa".',
    guide: "single-page-applications.md",
  }),
  headers: optional(headers, {
    description:
      "Headers of files and pages: globs of URL paths, each with its headers. All globs that match apply, and for one header the last.",
    guide: "headers.md",
  }),
  revisions: filled(
    v.pipe(integer, v.minValue(0, "expected a number of at least 0")),
    defaultRevisions,
    {
      description:
        "How many earlier builds stay served, for pages and nodes that have begun with them. A build keeps as many.",
    },
  ),
  assets: filled(strings, [], {
    description: "Globs of public files, relative to the source folder.",
    guide: "assets.md",
  }),
  browserSegments: optional(names, {
    description:
      "Segments that browsers may load. Default: those that the pages pass to startClient.",
  }),
  browserModules: optional(strings, {
    description: "Globs of more modules that client.import may load. All of them become public.",
  }),
  openapi: optional(openapi, {
    description:
      'Serves /svc/openapi.json, the OpenAPI document of what is public: true, or { "token": "…" } for those who send it. A build then refuses two operations of one id. Default: none.',
    guide: "openapi.md",
  }),
  nodes: optional(
    v.record(ownName, names, 'expected an object of lists, { "shop": ["catalogue", "orders"] }'),
    {
      description:
        "In development: the nodes by name, with the segments of each. Default: one node per segment that isn't only for browsers.",
      guide: "development.md",
    },
  ),
};

// Keys of some modes, some with words that differ between these.

const name = optional(
  v.pipe(
    v.string("expected a string"),
    // It is sent as a header.
    v.regex(
      /^[\x21-\x7e](?:[\x20-\x7e]{0,62}[\x21-\x7e])?$/,
      "expected 1 to 64 printable ASCII characters",
    ),
  ),
  { description: "The name that callers see as x-svc-node." },
);

const cache = optional(string, {
  description:
    "The folder that keeps modules between starts. Default: node_modules/.cache/seamline.",
  guide: "deployment.md#what-a-node-caches",
  path: "file",
});

const console = filled(boolean, false, {
  description: "Serves the console at /svc/console, for holders of the trust key.",
});

const compression = optional(boolean, {
  description:
    "Compresses answers to calls over 4 KB with gzip, for callers that accept it. A mounted service leaves it to its server.",
  default: true,
  guide: "limits.md#compressed-answers",
});

const streamHeaders = optional(
  v.pipe(
    v.array(
      v.pipe(
        v.string("expected a string"),
        v.rawCheck(({ dataset, addIssue }) => {
          const message = dataset.typed ? streamHeaderProblem(dataset.value) : undefined;
          if (message !== undefined) addIssue({ message });
        }),
        v.metadata({ pattern: streamHeaderPattern.source }),
      ),
      'expected a list of header names, ["x-tenant"]',
    ),
  ),
  {
    description:
      "Names of headers that pages may add to each stream of their link, besides authorization, accept-language, traceparent and last-event-id. One that the proxy in front has set on the link stays as it is.",
  },
);

const gateways = (description: string) =>
  optional(addresses, { description, guide: "deployment.md#several-gateways" });
const directoryKey = (description: string) =>
  optional(directory, { description, guide: "directory.md" });
const repositoryKey = (description: string) =>
  required(address, { description, missing: missingAddress });

const segmentsAre = "Segments to load: names of segment files without .segment.json.";

const node = v.pipe(
  v.object({
    mode: v.literal("node"),
    ...common,
    name,
    gateway: gateways(
      "The gateway to join, or a list of them: the node joins each. Without one, it can't call other nodes.",
    ),
    directory: directoryKey("Finds the gateways to join, instead of 'gateway'."),
    repository: repositoryKey("The repository that the modules come from."),
    segments: required(v.pipe(names, v.minLength(1, "expected the name of at least one segment")), {
      description: segmentsAre,
      missing: "Give a list of segment names",
    }),
    cache,
    compression,
  }),
  v.description("Runs the procedures of its segments."),
);

const gateway = v.pipe(
  v.object({
    mode: v.literal("gateway"),
    ...common,
    healthIntervalMs: optional(milliseconds, {
      description: "Milliseconds between two health checks of a member.",
      default: defaultHealthIntervalMs,
      guide: "health.md#what-a-gateway-does-with-it",
    }),
    directory: directoryKey("Tells nodes and proxies where this gateway is."),
    repository: optional(address, {
      description:
        "Needed by middleware that reads arguments. Without it, instances aren't decoded, and values of a GET are strings.",
    }),
    compression,
    streamHeaders,
    console,
  }),
  v.description("Knows which node has which procedure, and forwards calls."),
);

const repository = v.pipe(
  v.object({ mode: v.literal("repository"), ...common, ...application }),
  v.description("Holds the build: files for browsers, modules for nodes."),
);

const standalone = v.pipe(
  v.object({
    mode: v.literal("standalone"),
    ...common,
    ...application,
    name,
    segments: optional(names, {
      description: `${segmentsAre} Default: all but those of browsers.`,
    }),
    cache,
    compression,
    streamHeaders,
    console,
  }),
  v.description("Everything in one process."),
);

const proxy = v.pipe(
  v.object({
    mode: v.literal("proxy"),
    ...common,
    gateway: gateways(
      "The gateway that calls go to, or a list of them, which then take turns. Set one of this, 'node' and 'directory'.",
    ),
    node: optional(address, {
      description: "The node that calls go to. Set one of this, 'gateway' and 'directory'.",
    }),
    directory: directoryKey(
      "Finds the gateways that calls go to. Set one of this, 'gateway' and 'node'.",
    ),
    repository: repositoryKey("The repository that everything else goes to."),
    compression,
    streamHeaders,
    console,
  }),
  v.description(
    "One address for everyone: calls go to a gateway or node, everything else to the repository.",
  ),
);

type Schemas = {
  readonly [M in Mode]: v.GenericSchema<
    Extract<ConfigInput, { mode: M }>,
    Extract<Config, { mode: M }>
  > & { readonly type: string; readonly entries: Readonly<Record<string, v.GenericSchema>> };
};

/** The schema of each mode; `entries` are its keys. */
export const schemas: Schemas = { node, gateway, repository, proxy, standalone };

export const modes: readonly Mode[] = Object.keys(schemas) as Mode[];

export function isMode(value: unknown): value is Mode {
  return typeof value === "string" && Object.hasOwn(schemas, value);
}

/** Keys that several modes have. Their types are interfaces of their own. */
export const sharedKeys: Readonly<Record<string, Readonly<Record<string, v.GenericSchema>>>> = {
  CommonInput: common,
  ApplicationInput: application,
};

/** Keys of which a configuration has exactly one. */
export const alternatives: Readonly<Partial<Record<Mode, readonly string[]>>> = {
  proxy: ["gateway", "node", "directory"],
};
