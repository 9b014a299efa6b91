// The key `directory`: where it is, and what else it needs of a configuration.

import * as v from "valibot";
import type { Problem } from "../../src/base/problem.ts";
import type { DirectoryConfig, Mode } from "./config-types.ts";

/** The form of a server's address, for the JSON Schema; only `URL` knows whether it is valid. */
const serverPattern =
  /^(?:nats|tls):\/\/(?:[^\s/?#@]+@)?(?:\[[\da-fA-F:.]+\]|[^\s/?#@:\\[\]]+)(?::\d{1,5})?\/?$/;

const string = v.pipe(
  v.string("expected a string"),
  v.nonEmpty("expected a string that isn't empty"),
);

const server = v.pipe(
  v.string("expected an address such as nats://127.0.0.1:4222"),
  // The value is in no message: it may hold a password.
  v.rawCheck(({ dataset, addIssue }) => {
    if (!dataset.typed || (serverPattern.test(dataset.value) && URL.canParse(dataset.value)))
      return;
    addIssue({
      message: "it isn't the address of a NATS server: give one such as nats://127.0.0.1:4222",
    });
  }),
  v.metadata({ pattern: serverPattern.source }),
);

const servers = "expected a list of addresses, such as nats://127.0.0.1:4222";

type Mutable<T> = T extends string ? T : { -readonly [K in keyof T]: Mutable<T[K]> };

export const directory: v.GenericSchema<Mutable<DirectoryConfig>> = v.strictObject(
  {
    nats: v.pipe(
      v.array(server, servers),
      v.minLength(1, "expected a list with the address of at least one server"),
    ),
    creds: v.optional(string),
    tls: v.optional(
      v.strictObject(
        { ca: v.optional(string), cert: v.optional(string), key: v.optional(string) },
        'expected an object, such as { "ca": "./ca.pem" }',
      ),
    ),
    prefix: v.optional(
      v.pipe(
        string,
        v.regex(/^[\w-]{1,64}$/, "expected 1 to 64 letters, digits, '-' and '_'"),
        v.metadata({ default: "seamline" }),
      ),
    ),
  },
  'expected { "nats": ["nats://127.0.0.1:4222"] }',
);

/** The keys of `directory`, and of `directory.tls`. */
export const directoryNames: readonly string[] = ["nats", "creds", "tls", "prefix"];
export const directoryTlsNames: readonly string[] = ["ca", "cert", "key"];

type Values = Readonly<Record<string, unknown>>;

/** What doesn't go together with a directory. */
export function directoryProblems(values: Values, mode: Mode, file: string): readonly Problem[] {
  const { directory: given } = values;
  if (given === undefined) return [];
  const problems: Problem[] = [];
  const { tls } = (given ?? {}) as Values;
  const { cert, key } = (tls ?? {}) as Values;
  if ((cert === undefined) !== (key === undefined))
    problems.push({
      file,
      path: "directory.tls",
      message: "'cert' and 'key' belong together",
      hint: "Give both, or neither if the server asks for no certificate",
    });
  const { url } = values;
  if (
    mode === "gateway" &&
    typeof url === "string" &&
    /^https?:\/\/(?:0\.0\.0\.0|\[::\])(?:[:/]|$)/.test(url)
  )
    problems.push({
      file,
      path: "url",
      message: `'directory' tells others to dial this gateway at '${url}', which they can't`,
      hint: "Set 'url' to the host name or address at which others reach it",
    });
  if (mode === "node" && values["gateway"] !== undefined)
    problems.push({
      file,
      path: "gateway",
      message: "a node finds its gateways in 'directory' or 'gateway', not in both",
      hint: "Remove one of them",
    });
  return problems;
}

/** The addresses of the servers without what is secret in them. */
export function shownServers({ nats }: DirectoryConfig): readonly string[] {
  return nats.map((address) => address.replace(/\/\/.*@/, "//"));
}
