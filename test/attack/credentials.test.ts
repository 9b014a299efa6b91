import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { nodeHost } from "../../server/host.ts";
import { createCredentials } from "../../src/trust.ts";
import { key } from "../_deployment.ts";
import { attack } from "./_attack.ts";
import {
  bytesOf,
  type Door,
  exchange,
  openSockets,
  type RawRequest,
  type Sockets,
} from "./_sockets.ts";

// Every path that isn't for everyone, with everything that a sender can show.

let sockets: Sockets;
beforeAll(async () => {
  sockets = await openSockets({ console: true });
});
afterAll(() => sockets.close());

const credentials = createCredentials(key, nodeHost());
const fieldOf = (sender: "service" | "outside"): string =>
  `x-svc-credential: ${credentials.fields(sender)["x-svc-credential"]}`;
const theKey = `x-svc-trust-key: ${key}`;
const service = fieldOf("service");
const outside = fieldOf("outside");

/** What is shown → what it is worth: that of the key, of a service, of a stranger's call, or nothing. */
const shown: readonly (readonly [
  what: string,
  fields: readonly string[],
  worth: "key" | "service" | "outside" | "nothing",
])[] = [
  ["the trust key", [theKey], "key"],
  ["a service's credential", [service], "service"],
  ["the credential of a stranger's call", [outside], "outside"],
  ["nothing", [], "nothing"],
  ["a guessed key", ["x-svc-trust-key: guess"], "nothing"],
  ["an empty key", ["x-svc-trust-key:"], "nothing"],
  ["the key twice", [theKey, theKey], "nothing"],
  ["the key and a guess", [theKey, "x-svc-trust-key: guess"], "nothing"],
  ["an empty credential", ["x-svc-credential:"], "nothing"],
  ["a credential without a value", ["x-svc-credential: service"], "nothing"],
  ["the key as the credential's value", [`x-svc-credential: service ${key}`], "nothing"],
  ["a credential of another kind", [service.replace(": service", ": operator")], "nothing"],
  [
    "the value of one credential under the name of another",
    [outside.replace(": outside", ": service")],
    "nothing",
  ],
  ["a credential in capitals", [service.replace(": service", ": SERVICE")], "nothing"],
  ["a credential twice", [service, service], "nothing"],
  ["both credentials", [service, outside], "nothing"],
  ["the key and a service's credential", [theKey, service], "nothing"],
  ["the key and the credential of a stranger's call", [theKey, outside], "nothing"],
  ["a guessed key beside a credential", ["x-svc-trust-key: guess", service], "nothing"],
  [
    "a credential of another deployment",
    [
      `x-svc-credential: ${createCredentials("another-trust-key", nodeHost()).fields("service")["x-svc-credential"]}`,
    ],
    "nothing",
  ],
  ["a word about oneself, of earlier versions", ["x-svc-origin: trusted"], "nothing"],
  [
    "the same beside the credential of a stranger's call",
    [outside, "x-svc-origin: trusted"],
    "outside",
  ],
  [
    "an address",
    ["X-Forwarded-For: 127.0.0.1", "Forwarded: for=127.0.0.1", "X-Real-Ip: 127.0.0.1"],
    "nothing",
  ],
];

const regexp = { value: { serialized: true, name: "RegExp", source: "a", flags: "" } };
const encoded = "x-svc-data-encoding: serialized";
const anyone = ["key", "service", "outside", "nothing"] as const;

/** What is asked, where, what it answers those who may, and all others. */
const internal: readonly {
  readonly what: string;
  readonly doors: readonly Door[];
  readonly request: RawRequest;
  readonly for: readonly string[];
  readonly open: number;
  readonly shut: number;
}[] = [
  {
    what: "a protected procedure",
    doors: ["node", "gateway", "proxy"],
    request: { target: "/rpc/a/audit" },
    for: ["key", "service"],
    open: 200,
    shut: 401,
  },
  {
    what: "a RegExp among arguments",
    doors: ["node", "gateway", "proxy"],
    request: { target: "/rpc/a/echo", json: regexp, fields: [encoded] },
    for: ["key", "service"],
    open: 200,
    shut: 400,
  },
  {
    what: "a private procedure",
    doors: ["node", "gateway", "proxy"],
    request: { target: "/rpc/a/secret" },
    for: [],
    open: 200,
    shut: 404,
  },
  {
    what: "joining",
    doors: ["gateway"],
    request: { target: "/nodes", json: { url: "nowhere", procedures: [] } },
    for: ["key"],
    open: 400,
    shut: 401,
  },
  {
    what: "renewing",
    doors: ["gateway"],
    request: { target: "/nodes/none", method: "PUT" },
    for: ["key"],
    open: 404,
    shut: 401,
  },
  {
    what: "whether a member is known",
    doors: ["gateway"],
    request: { target: "/nodes/none" },
    for: ["key"],
    open: 404,
    shut: 401,
  },
  {
    what: "leaving",
    doors: ["gateway"],
    request: { target: "/nodes/none", method: "DELETE" },
    for: ["key"],
    open: 404,
    shut: 401,
  },
  {
    what: "joining at a service that isn't a gateway",
    doors: ["node"],
    request: { target: "/nodes", json: { url: "nowhere", procedures: [] } },
    for: [],
    open: 201,
    shut: 404,
  },
  {
    what: "the modules' manifest",
    doors: ["repository"],
    request: { target: "/svc/modules/manifest.json" },
    for: ["key"],
    open: 200,
    shut: 404,
  },
  {
    what: "the same through the proxy",
    doors: ["proxy"],
    request: { target: "/svc/modules/manifest.json" },
    for: [],
    open: 200,
    shut: 404,
  },
  {
    what: "the console's state",
    doors: ["gateway"],
    request: { target: "/svc/console/state" },
    for: ["key"],
    open: 200,
    shut: 404,
  },
  {
    what: "a link to the console",
    doors: ["gateway"],
    request: { target: "/svc/console/token", json: {} },
    for: ["key"],
    open: 201,
    shut: 404,
  },
  {
    what: "a call of the console",
    doors: ["gateway"],
    request: { target: "/svc/console/rpc/a/audit", json: {} },
    for: ["key"],
    open: 200,
    shut: 404,
  },
  {
    what: "a deadline of its own",
    doors: ["node", "gateway"],
    request: { target: "/rpc/a/canary", fields: ["x-svc-deadline: 0"] },
    for: ["key", "service", "outside"],
    open: 504,
    shut: 200,
  },
  {
    what: "a count of hops",
    doors: ["node", "gateway", "proxy"],
    request: { target: "/rpc/a/canary", fields: ["x-svc-hops: 9"] },
    for: ["key", "service", "outside"],
    open: 508,
    shut: 200,
  },
  {
    what: "a public procedure",
    doors: ["node", "gateway", "proxy"],
    request: { target: "/rpc/a/canary" },
    for: anyone,
    open: 200,
    shut: 200,
  },
];

describe.each(internal)("$what", ({ doors, request, for: may, open, shut }) => {
  it.each(shown)("is answered by what it is worth, with %s", async (_, fields, worth) => {
    const bytes = bytesOf({ ...request, fields: [...(request.fields ?? []), ...fields] });
    if (!may.includes(worth)) return void (await attack(sockets, doors, bytes, shut));
    for (const door of doors)
      expect((await exchange(sockets.ports[door], bytes)).status).toBe(open);
  });
});

describe("stacks of errors", () => {
  it.each(shown)("go to those who may see what is protected, with %s", async (_, fields, worth) => {
    for (const door of ["node", "gateway", "proxy"] as const) {
      const request = bytesOf({ target: "/rpc/a/fail", fields: [encoded, ...fields] });
      const { status, body } = await exchange(sockets.ports[door], request);
      expect([status, body.includes('"stack"')]).toEqual([
        500,
        worth === "key" || worth === "service",
      ]);
    }
  });
});
