// What a configuration may hold, for each mode (decisions §5). The types are in config-types.ts; `satisfies` keeps both equal.

import * as v from "valibot";
import type { Config, GatewayConfig, Mode, NodeConfig, ProxyConfig, RepositoryConfig, StandaloneConfig } from "./config-types.ts";
import { trustKeyProblem } from "./key.ts";

const text = v.pipe(v.string("expected a text"), v.nonEmpty("expected a text that is not empty"));
const texts = v.array(text, "expected a list of texts");
const count = v.pipe(v.number("expected a number"), v.safeInteger("expected a whole number"), v.minValue(1, "expected a number from 1 up"));

/** An absolute address, kept without a slash at the end. */
const address = (protocols: readonly string[]) =>
  v.pipe(
    v.string("expected an address such as http://127.0.0.1:3000"),
    v.rawTransform(({ dataset, addIssue, NEVER }) => {
      const problem = addressProblem(dataset.value, protocols);
      if (problem === undefined) return new URL(dataset.value).origin;
      addIssue({ message: problem });
      return NEVER;
    }),
  );

function addressProblem(value: string, protocols: readonly string[]): string | undefined {
  if (!URL.canParse(value)) return `expected an address such as http://127.0.0.1:3000, found '${value}'`;
  const url = new URL(value);
  if (!protocols.includes(url.protocol))
    return url.protocol === "https:"
      ? "this version doesn't serve https itself yet: give the http address, and put a proxy with the certificate in front"
      : `expected an address that begins with ${protocols.map((one) => `${one}//`).join(" or ")}, found '${value}'`;
  if (url.username !== "" || url.password !== "") return "an address can't hold a user name or password";
  if (url.pathname !== "/" || url.search !== "" || url.hash !== "") return `expected host and port only: '${url.origin}', found '${value}'`;
  return undefined;
}

const own = address(["http:"]);
const other = address(["http:", "https:"]);

const limits = v.strictObject(
  {
    /** Bytes of a request's body. */
    body: v.optional(count),
    depth: v.optional(count),
    values: v.optional(count),
    objects: v.optional(count),
    /** Of a bigint. */
    digits: v.optional(count),
    /** Query parameters. */
    query: v.optional(count),
    /** Bytes of a request's headers. */
    header: v.optional(count),
    /** Ms for a request's headers to arrive. */
    headerTime: v.optional(count),
    /** Ms for a request to arrive. */
    requestTime: v.optional(count),
    /** Ms for a call to be answered. */
    time: v.optional(count),
    connections: v.optional(count),
  },
  (issue) => (issue.expected === "never" ? `unknown limit; known: ${limitNames.join(", ")}` : "expected an object of numbers"),
);
const limitNames: readonly string[] = Object.keys(limits.entries);

const common = {
  url: own,
  trustKey: v.optional(
    v.pipe(
      v.string("expected a text"),
      v.rawCheck(({ dataset, addIssue }) => {
        const problem = dataset.typed ? trustKeyProblem(dataset.value) : undefined;
        if (problem !== undefined) addIssue({ message: `it ${problem}` });
      }),
    ),
  ),
  middleware: v.optional(texts),
  healthChecks: v.optional(v.record(v.string(), text, "expected an object of names and module paths")),
  limits: v.optional(limits),
  log: v.optional(v.picklist(["info", "warn", "error", "none"], "expected info, warn, error or none")),
};

const application = {
  source: v.optional(text, "./src"),
  output: v.optional(text, "./dist"),
  index: v.optional(text, "index.html"),
  assets: v.optional(texts, []),
  clients: v.optional(texts),
  clientModules: v.optional(texts),
};

// A header's value, and so without what headers can't carry.
const name = v.optional(
  v.pipe(
    v.string("expected a text"),
    v.regex(/^[\x21-\x7e](?:[\x20-\x7e]{0,62}[\x21-\x7e])?$/, "expected 1 to 64 printable ASCII characters"),
  ),
);

const node = v.object({
  mode: v.literal("node"),
  ...common,
  name,
  gateway: v.optional(other),
  repository: other,
  segments: v.pipe(texts, v.minLength(1, "expected the name of at least one segment")),
  cache: v.optional(text),
}) satisfies v.GenericSchema<unknown, NodeConfig>;

const gateway = v.object({
  mode: v.literal("gateway"),
  ...common,
  monitor: v.optional(count, 5_000),
  repository: v.optional(other),
  directory: v.optional(v.literal("memory", "this version keeps the members in its memory only: expected 'memory'"), "memory"),
}) satisfies v.GenericSchema<unknown, GatewayConfig>;

const repository = v.object({ mode: v.literal("repository"), ...common, ...application }) satisfies v.GenericSchema<
  unknown,
  RepositoryConfig
>;

const standalone = v.object({
  mode: v.literal("standalone"),
  ...common,
  ...application,
  name,
  segments: v.optional(texts),
  cache: v.optional(text),
}) satisfies v.GenericSchema<unknown, StandaloneConfig>;

const proxy = v.object({
  mode: v.literal("proxy"),
  ...common,
  gateway: v.optional(other),
  node: v.optional(other),
  repository: other,
}) satisfies v.GenericSchema<unknown, ProxyConfig>;

/** The schema of each mode; `entries` are its keys. */
export const schemas: Readonly<Record<Mode, v.GenericSchema<unknown, Config> & { readonly entries: Readonly<Record<string, unknown>> }>> = {
  node,
  gateway,
  repository,
  proxy,
  standalone,
};

/** Keys that wait for a later version, with what to do: refused, for being ignored is worse. */
export const laterKeys: ReadonlyMap<string, string> = new Map([["tls", "it serves http only. Put a proxy with the certificate in front"]]);
