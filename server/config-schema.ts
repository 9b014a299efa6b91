// What a configuration may hold, for each mode (decisions §5): the checks, the published JSON Schema (json-schema.ts) with its words
// and defaults, and by `Same` the types of config-types.ts, which are written out because the package's declarations can't name a bundled library.

import * as v from "valibot";
import { defaultLimits } from "../src/serializer/limits.ts";
import { address, hostName, members, origins } from "./config-address-schema.ts";
import type * as types from "./config-types.ts";
import type { Config, Mode } from "./config-types.ts";
import { trustKeyProblem } from "./key.ts";

const text = v.pipe(v.string("expected a text"), v.nonEmpty("expected a text that is not empty"));
const texts = v.array(text, "expected a list of texts");
const wholeNumber = v.pipe(
  v.number("expected a number"),
  v.safeInteger("expected a whole number"),
  v.minValue(1, "expected a number from 1 up"),
);

/** Names of which each counts once. */
const names = v.pipe(
  texts,
  v.rawCheck(({ dataset, addIssue }) => {
    if (!dataset.typed) return;
    for (const [index, one] of dataset.value.entries())
      if (dataset.value.indexOf(one) < index)
        addIssue({
          message: `'${one}' is named twice`,
          path: [{ type: "array", origin: "value", input: dataset.value, key: index, value: one }],
        });
  }),
  v.metadata({ uniqueItems: true }),
);

const limit = (name: keyof typeof defaultLimits, description: string) =>
  v.optional(v.pipe(wholeNumber, v.metadata({ description, default: defaultLimits[name] })));

const limits = v.pipe(
  v.strictObject(
    {
      body: limit("body", "Bytes of a request's body."),
      depth: limit("depth", "Levels of nesting in arguments."),
      values: limit("values", "Values in one message."),
      objects: limit("objects", "Dates, maps, instances and the like that one message may make."),
      digits: limit("digits", "Digits of a bigint."),
      query: limit("query", "Parameters in a query string."),
      header: limit("header", "Bytes of a request's headers."),
      headerCount: limit("headerCount", "Header fields of a request."),
      headerTime: limit("headerTime", "Milliseconds for a request's headers to arrive."),
      requestTime: limit("requestTime", "Milliseconds for a whole request to arrive."),
      time: limit("time", "Milliseconds in which a call must be answered."),
      heldBytes: v.optional(
        v.pipe(
          wholeNumber,
          v.description(
            "Bytes that all callers together may make the service hold. Left out: a quarter of the memory that it may use.",
          ),
        ),
      ),
      connections: limit("connections", "Open connections, and as many calls to other services."),
    },
    "expected an object of numbers",
  ),
  v.description("How much the service takes before it refuses."),
);

const path = (description: string) => v.pipe(text, v.description(description));

const tls = v.pipe(
  v.strictObject(
    {
      cert: path(
        "Path of the certificate (PEM), with those between it and the authority's behind it.",
      ),
      key: path("Path of its private key (PEM)."),
      passphrase: v.optional(
        path("Of a private key that is encrypted: best from the environment, ${TLS_PASSPHRASE}."),
      ),
      ca: v.optional(
        path(
          "Path of further authorities (PEM) whose certificates other services may show, besides the well-known ones.",
        ),
      ),
    },
    'expected { "cert": "./cert.pem", "key": "./key.pem" }',
  ),
  v.description("The service listens with https. 'url' begins with https: then, and only then."),
);

const common = {
  url: address(
    "Where the service listens, and what it tells others: scheme, host and port. Port 0 takes a free one.",
  ),
  trustKey: v.optional(
    v.pipe(
      v.string("expected a text"),
      v.rawCheck(({ dataset, addIssue }) => {
        const problem = dataset.typed ? trustKeyProblem(dataset.value) : undefined;
        if (problem !== undefined) addIssue({ message: `it ${problem}` });
      }),
      v.metadata({
        description:
          "What the services of a deployment show each other. Left out: the key in .seamline/key of the application folder.",
        pattern: "^[!-~]+$",
      }),
    ),
  ),
  origin: v.optional(origins),
  hosts: v.optional(
    v.pipe(
      v.array(hostName, "expected a list of host names"),
      v.description(
        "Further host names that requests may be for, besides those of 'origin' and 'url', localhost and addresses; [\"*\"] takes all.",
      ),
    ),
  ),
  forwarded: v.optional(
    v.pipe(
      v.boolean("expected true or false"),
      v.metadata({
        description:
          "Believes x-forwarded-host and x-forwarded-proto: what stands in front must always set both.",
        default: false,
      }),
    ),
  ),
  middleware: v.optional(
    v.pipe(
      texts,
      v.description(
        "Modules whose default export is a middleware, paths or packages. The last one runs first.",
      ),
    ),
  ),
  healthChecks: v.optional(
    v.pipe(
      v.record(v.string(), text, "expected an object of names and module paths"),
      v.description("Name → module whose default export is a health check."),
    ),
  ),
  limits: v.optional(limits),
  log: v.optional(
    v.pipe(
      v.picklist(["info", "warn", "error", "none"], "expected info, warn, error or none"),
      v.metadata({ description: "The least important level that is written.", default: "info" }),
    ),
  ),
  tls: v.optional(tls),
};

const clients = v.pipe(
  names,
  v.description(
    "Segments that browsers may load. Left out: those that startClient names in the pages.",
  ),
);
const application = {
  source: v.optional(path("The folder of modules and assets."), "./src"),
  output: v.optional(path("The folder of the build."), "./dist"),
  index: v.optional(
    path("The page at '/': a file in the source folder or in the application folder."),
    "index.html",
  ),
  assets: v.optional(
    v.pipe(texts, v.description("Globs of files that are public, relative to the source folder.")),
    [],
  ),
  clients: v.optional(clients),
  clientModules: v.optional(
    v.pipe(
      texts,
      v.description(
        "Globs of further modules that client.import may load. All of them become public.",
      ),
    ),
  ),
  layout: v.optional(
    v.pipe(
      v.record(text, names, 'expected an object of lists, { "shop": ["catalogue", "orders"] }'),
      v.description(
        "In development: nodes by name, and the segments that each holds. Left out: a node for each segment that is not for browsers alone.",
      ),
    ),
  ),
};

const segments = v.pipe(
  names,
  v.description(
    "Segments that it loads: names of segment files without .segment.json. Left out: all but those that only browsers load.",
  ),
);
const needed = v.pipe(
  names,
  v.minLength(1, "expected the name of at least one segment"),
  v.description("Segments that it loads: names of segment files without .segment.json."),
);

// A header's value, and so without what headers can't carry.
const name = v.optional(
  v.pipe(
    v.string("expected a text"),
    v.regex(
      /^[\x21-\x7e](?:[\x20-\x7e]{0,62}[\x21-\x7e])?$/,
      "expected 1 to 64 printable ASCII characters",
    ),
    v.description("Told to callers as x-svc-node."),
  ),
);
const cache = v.optional(
  path("Where modules are kept between starts. Left out: node_modules/.cache/seamline."),
);
const modulesFrom = address("The repository, from which modules come.");

const console = v.optional(
  v.pipe(
    v.boolean("expected true or false"),
    v.description("Shows what happens here to who holds the trust key, at /svc/console."),
  ),
  false,
);

const node = v.object({
  mode: v.literal("node"),
  ...common,
  name,
  gateway: v.optional(address("The gateway to join. Left out: a node that calls no others.")),
  repository: modulesFrom,
  segments: needed,
  cache,
});

const gateway = v.object({
  mode: v.literal("gateway"),
  ...common,
  monitor: v.optional(
    v.pipe(wholeNumber, v.description("Milliseconds between two health checks of a member.")),
    5_000,
  ),
  repository: v.optional(
    address(
      "For middleware that looks at arguments. Left out: instances pass unopened, and values of a GET are text.",
    ),
  ),
  members: v.optional(members),
  directory: v.optional(
    v.pipe(
      v.literal("memory", "this version keeps the members in its memory only: expected 'memory'"),
      v.description("Where the members are kept."),
    ),
    "memory",
  ),
  console,
});

const repository = v.object({ mode: v.literal("repository"), ...common, ...application });

const standalone = v.object({
  mode: v.literal("standalone"),
  ...common,
  ...application,
  name,
  segments: v.optional(segments),
  cache,
  console,
});

const proxy = v.object({
  mode: v.literal("proxy"),
  ...common,
  gateway: v.optional(address("The gateway that calls go to. Either this or 'node'.")),
  node: v.optional(address("The one node that calls go to. Either this or 'gateway'.")),
  repository: address("The repository that everything else goes to."),
  console,
});

type Schema = v.GenericSchema<unknown, Config> & {
  readonly entries: Readonly<Record<string, v.GenericSchema>>;
};

/** The schema of each mode; `entries` are its keys. */
export const schemas: Readonly<Record<Mode, Schema>> = {
  node,
  gateway,
  repository,
  proxy,
  standalone,
};

/** The keys of `limits`. */
export const limitNames: readonly string[] = Object.keys(limits.entries);

type Mutable<T> = T extends string | number ? T : { -readonly [K in keyof T]: Mutable<T[K]> };
/** `true` when what the schema gives and the written type are one: a key or a type in one of them only doesn't compile. */
type Same<One, Other> = [One, keyof One, Other, keyof Other] extends [
  Other,
  keyof Other,
  One,
  keyof One,
]
  ? true
  : false;
void ([true, true, true, true, true, true, true, true, true, true] satisfies [
  Same<v.InferOutput<typeof node>, Mutable<types.NodeConfig>>,
  Same<v.InferOutput<typeof gateway>, Mutable<types.GatewayConfig>>,
  Same<v.InferOutput<typeof repository>, Mutable<types.RepositoryConfig>>,
  Same<v.InferOutput<typeof standalone>, Mutable<types.StandaloneConfig>>,
  Same<v.InferOutput<typeof proxy>, Mutable<types.ProxyConfig>>,
  Same<v.InferInput<typeof node>, Mutable<types.NodeInput>>,
  Same<v.InferInput<typeof gateway>, Mutable<types.GatewayInput>>,
  Same<v.InferInput<typeof repository>, Mutable<types.RepositoryInput>>,
  Same<v.InferInput<typeof standalone>, Mutable<types.StandaloneInput>>,
  Same<v.InferInput<typeof proxy>, Mutable<types.ProxyInput>>,
]);
