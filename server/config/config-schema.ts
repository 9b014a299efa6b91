// The checks of a configuration, for each mode. scripts/json-schemas.mjs makes the published JSON
// Schema of them, with the comments of config-types.ts as descriptions.

import * as v from "valibot";
import { defaultDrainMs, defaultRevisions, longestTimeMs } from "../../src/base/protocol.ts";
import { defaultLimits } from "../../src/base/limits.ts";
import { listenPattern } from "./config-address.ts";
import { address, addresses, hostName, origins } from "./config-address-schema.ts";
import { headerGlobProblem, headerProblem } from "./config-headers.ts";
import { directory } from "./config-directory.ts";
import type * as types from "./config-types.ts";
import type { Config, Mode } from "./config-types.ts";
import { trustKeyProblem } from "./key.ts";

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

const limit = (name: keyof typeof defaultLimits) =>
  v.optional(v.pipe(wholeNumber, v.metadata({ default: defaultLimits[name] })));
const time = (name: keyof typeof defaultLimits) =>
  v.optional(v.pipe(milliseconds, v.metadata({ default: defaultLimits[name] })));

const limits = v.strictObject(
  {
    bodyBytes: limit("bodyBytes"),
    uploadBytes: limit("uploadBytes"),
    uploadParts: limit("uploadParts"),
    maxDepth: limit("maxDepth"),
    maxValues: limit("maxValues"),
    maxObjects: limit("maxObjects"),
    maxDigits: limit("maxDigits"),
    maxQueryParameters: limit("maxQueryParameters"),
    localsBytes: v.optional(
      v.pipe(
        wholeNumber,
        // They travel in a header field, for which services leave room.
        v.maxValue(16_384, "expected a number of at most 16384"),
        v.metadata({ default: defaultLimits.localsBytes }),
      ),
    ),
    headerBytes: limit("headerBytes"),
    headerCount: limit("headerCount"),
    headerTimeoutMs: time("headerTimeoutMs"),
    requestTimeoutMs: time("requestTimeoutMs"),
    idleTimeoutMs: time("idleTimeoutMs"),
    keepAliveTimeoutMs: time("keepAliveTimeoutMs"),
    callTimeoutMs: time("callTimeoutMs"),
    heldBytes: v.optional(wholeNumber),
    maxCalls: limit("maxCalls"),
    maxConnections: limit("maxConnections"),
  },
  "expected an object of numbers",
);

const tls = v.strictObject(
  { cert: string, key: string, passphrase: v.optional(string), ca: v.optional(string) },
  'expected { "cert": "./cert.pem", "key": "./key.pem" }',
);

const share = "expected a number from 0 to 1";
const sampled = v.strictObject({
  sample: v.pipe(v.number(share), v.minValue(0, share), v.maxValue(1, share)),
});
const traces = v.union(
  [boolean, sampled],
  'expected true, false, or { "sample": 0.1 } with a number from 0 to 1',
);

const withToken = v.strictObject({
  token: v.pipe(
    string,
    v.regex(/^[!-~]{16,256}$/, "expected 16 to 256 printable ASCII characters without blanks"),
  ),
});
const atPort = v.strictObject({
  port: v.pipe(wholeNumber, v.maxValue(65_535, "expected a port, 1 to 65535")),
  host: v.optional(
    v.pipe(
      v.string("expected a string"),
      v.regex(listenPattern, "expected an address or host name such as 127.0.0.1, without scheme"),
    ),
  ),
});
const metrics = v.union(
  [withToken, atPort],
  'expected { "token": "…" } with 16 to 256 printable ASCII characters, or { "port": 9100 }',
);

const trustKey = v.pipe(v.string(), v.metadata({ pattern: "^[!-~]+$" }));

const common = {
  url: address,
  trustKey: v.optional(
    v.pipe(
      v.union(
        [
          trustKey,
          v.pipe(
            v.array(trustKey),
            v.minLength(1, "expected a string, or a list with at least one"),
          ),
        ],
        "expected a string, or a list of strings with the one first that signs",
      ),
      v.rawCheck(({ dataset, addIssue }) => {
        if (!dataset.typed) return;
        const keys = [dataset.value].flat();
        for (const [index, key] of keys.entries()) {
          const problem = trustKeyProblem(key);
          if (problem === undefined) continue;
          // The key itself is in no message.
          const which = typeof dataset.value === "string" ? "it" : `key ${index + 1} of the list`;
          addIssue({ message: `${which} ${problem}` });
        }
      }),
    ),
  ),
  origin: v.optional(origins),
  hosts: v.optional(v.array(hostName, "expected a list of host names")),
  forwarded: v.optional(v.pipe(boolean, v.metadata({ default: false }))),
  errors: v.optional(
    v.pipe(
      v.picklist(["shown", "masked"], 'expected "shown" or "masked"'),
      v.metadata({ default: "shown" }),
    ),
  ),
  middleware: v.optional(strings),
  healthChecks: v.optional(
    v.record(ownName, string, "expected an object of names and module paths"),
  ),
  limits: v.optional(limits),
  drainMs: v.optional(v.pipe(milliseconds, v.metadata({ default: defaultDrainMs }))),
  log: v.optional(
    v.pipe(
      v.picklist(["info", "warn", "error", "none"], "expected info, warn, error or none"),
      v.metadata({ default: "info" }),
    ),
  ),
  accessLog: v.optional(v.pipe(boolean, v.metadata({ default: false }))),
  metrics: v.optional(metrics),
  traces: v.optional(v.pipe(traces, v.metadata({ default: false }))),
  tls: v.optional(tls),
  endToEndTls: v.optional(v.pipe(boolean, v.metadata({ default: true }))),
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
  [boolean, string, v.strictObject({ page: string, status: v.picklist([200, 404]) })],
  'expected true, false, the path of a page, or { "page": "404.html", "status": 404 }',
);

const application = {
  source: v.optional(string, "./src"),
  output: v.optional(string, "./dist"),
  index: v.optional(string, "index.html"),
  fallback: v.optional(fallback),
  headers: v.optional(headers),
  revisions: v.optional(
    v.pipe(integer, v.minValue(0, "expected a number of at least 0")),
    defaultRevisions,
  ),
  assets: v.optional(strings, []),
  browserSegments: v.optional(names),
  browserModules: v.optional(strings),
  nodes: v.optional(
    v.record(ownName, names, 'expected an object of lists, { "shop": ["catalogue", "orders"] }'),
  ),
};

// It is sent as a header.
const name = v.optional(
  v.pipe(
    v.string("expected a string"),
    v.regex(
      /^[\x21-\x7e](?:[\x20-\x7e]{0,62}[\x21-\x7e])?$/,
      "expected 1 to 64 printable ASCII characters",
    ),
  ),
);
const cache = v.optional(string);
const console = v.optional(boolean, false);

const node = v.object({
  mode: v.literal("node"),
  ...common,
  name,
  gateway: v.optional(addresses),
  directory: v.optional(directory),
  repository: address,
  segments: v.pipe(names, v.minLength(1, "expected the name of at least one segment")),
  cache,
});

const gateway = v.object({
  mode: v.literal("gateway"),
  ...common,
  healthIntervalMs: v.optional(milliseconds),
  directory: v.optional(directory),
  repository: v.optional(address),
  console,
});

const repository = v.object({ mode: v.literal("repository"), ...common, ...application });

const standalone = v.object({
  mode: v.literal("standalone"),
  ...common,
  ...application,
  name,
  segments: v.optional(names),
  cache,
  console,
});

const proxy = v.object({
  mode: v.literal("proxy"),
  ...common,
  gateway: v.optional(addresses),
  node: v.optional(address),
  directory: v.optional(directory),
  repository: address,
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

/** The keys of `metrics`, whichever kind it is. */
export const metricsNames: readonly string[] = [withToken, atPort].flatMap(({ entries }) =>
  Object.keys(entries),
);

/** The keys of `traces`. */
export const tracesNames: readonly string[] = Object.keys(sampled.entries);

/** The keys of `tls`. */
export const tlsNames: readonly string[] = Object.keys(tls.entries);

// The types stand in config-types.ts: the package's declarations can't name valibot, which is
// bundled, and editors show only comments of declared properties. A key or a type that only one of
// the two has doesn't compile here.
type Same<A, B> = [A, keyof A, B, keyof B] extends [B, keyof B, A, keyof A] ? true : false;
type Mutable<T> = T extends string | number ? T : { -readonly [K in keyof T]: Mutable<T[K]> };
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
