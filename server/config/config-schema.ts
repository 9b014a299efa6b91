// The checks of a configuration, for each mode. scripts/json-schemas.mjs makes the published JSON
// Schema of them, with the comments of config-types.ts as descriptions.

import * as v from "valibot";
import { defaultDrainMs, defaultHealthIntervalMs, longestTimeMs } from "../../src/base/protocol.ts";
import { defaultLimits } from "../../src/codec/values/limits.ts";
import { address, hostName, members, origins } from "./config-address-schema.ts";
import type * as types from "./config-types.ts";
import type { Config, Mode } from "./config-types.ts";
import { trustKeyProblem } from "./key.ts";

const string = v.pipe(
  v.string("expected a string"),
  v.nonEmpty("expected a string that isn't empty"),
);
const strings = v.array(string, "expected a list of strings");
const boolean = v.boolean("expected true or false");
const wholeNumber = v.pipe(
  v.number("expected a number"),
  v.safeInteger("expected a whole number"),
  v.minValue(1, "expected a number of at least 1"),
);

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

const common = {
  url: address,
  trustKey: v.optional(
    v.pipe(
      v.string("expected a string"),
      v.rawCheck(({ dataset, addIssue }) => {
        const problem = dataset.typed ? trustKeyProblem(dataset.value) : undefined;
        if (problem !== undefined) addIssue({ message: `it ${problem}` });
      }),
      v.metadata({ pattern: "^[!-~]+$" }),
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
    v.record(v.string(), string, "expected an object of names and module paths"),
  ),
  limits: v.optional(limits),
  drainMs: v.optional(v.pipe(milliseconds, v.metadata({ default: defaultDrainMs }))),
  log: v.optional(
    v.pipe(
      v.picklist(["info", "warn", "error", "none"], "expected info, warn, error or none"),
      v.metadata({ default: "info" }),
    ),
  ),
  tls: v.optional(tls),
};

const application = {
  source: v.optional(string, "./src"),
  output: v.optional(string, "./dist"),
  index: v.optional(string, "index.html"),
  fallback: v.optional(v.union([boolean, string], "expected true, false, or the path of a page")),
  assets: v.optional(strings, []),
  browserSegments: v.optional(names),
  browserModules: v.optional(strings),
  nodes: v.optional(
    v.record(string, names, 'expected an object of lists, { "shop": ["catalogue", "orders"] }'),
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
  gateway: v.optional(address),
  repository: address,
  segments: v.pipe(names, v.minLength(1, "expected the name of at least one segment")),
  cache,
});

const gateway = v.object({
  mode: v.literal("gateway"),
  ...common,
  healthIntervalMs: v.optional(milliseconds, defaultHealthIntervalMs),
  repository: v.optional(address),
  members: v.optional(members),
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
  gateway: v.optional(address),
  node: v.optional(address),
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

/** The keys of `tls`. */
export const tlsNames: readonly string[] = Object.keys(tls.entries);

/** Keys and limits that had another name before the first release. */
export const renamedKeys: ReadonlyMap<string, string> = new Map([
  ["clients", "browserSegments"],
  ["clientModules", "browserModules"],
  ["monitor", "healthIntervalMs"],
  ["layout", "nodes"],
]);
export const renamedLimits: ReadonlyMap<string, string> = new Map([
  ["body", "bodyBytes"],
  ["header", "headerBytes"],
  ["headerTime", "headerTimeoutMs"],
  ["requestTime", "requestTimeoutMs"],
  ["time", "callTimeoutMs"],
  ["connections", "maxConnections"],
  ["depth", "maxDepth"],
  ["values", "maxValues"],
  ["objects", "maxObjects"],
  ["digits", "maxDigits"],
  ["query", "maxQueryParameters"],
]);

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
