import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { nodeHost } from "../../server/http/host.ts";
import { createCredentials } from "../../src/http/trust.ts";
import { key } from "../_deployment.ts";
import { attack } from "./_attack.ts";
import {
  bytesOf,
  type Service,
  exchange,
  openSockets,
  type RawRequest,
  type Sockets,
} from "./_sockets.ts";

// Every guarded path, with every kind of credential that a sender can have or forge.

let sockets: Sockets;
beforeAll(async () => {
  sockets = await openSockets({ console: true });
});
afterAll(() => sockets.close());

const credentials = createCredentials(key, nodeHost());
const fieldOf = (sender: "service" | "outside"): string =>
  `x-svc-credential: ${credentials.fields(sender)["x-svc-credential"]}`;
const theKey = `x-svc-trust-key: ${key}`;
const serviceCredential = fieldOf("service");
const outsideCredential = fieldOf("outside");

/** Credential fields of a request, and whom they must identify: "nothing" for anyone. */
const senders: readonly (readonly [
  what: string,
  fields: readonly string[],
  worth: "key" | "service" | "outside" | "nothing",
])[] = [
  ["the trust key", [theKey], "key"],
  ["a service's credential", [serviceCredential], "service"],
  ["the credential of an outside call", [outsideCredential], "outside"],
  ["nothing", [], "nothing"],
  ["a guessed key", ["x-svc-trust-key: guess"], "nothing"],
  ["an empty key", ["x-svc-trust-key:"], "nothing"],
  ["the key twice", [theKey, theKey], "nothing"],
  ["the key and a guess", [theKey, "x-svc-trust-key: guess"], "nothing"],
  ["an empty credential", ["x-svc-credential:"], "nothing"],
  ["a credential without a value", ["x-svc-credential: service"], "nothing"],
  ["the key as the credential's value", [`x-svc-credential: service ${key}`], "nothing"],
  [
    "a credential of another kind",
    [serviceCredential.replace(": service", ": operator")],
    "nothing",
  ],
  [
    "the value of one credential under the name of another",
    [outsideCredential.replace(": outside", ": service")],
    "nothing",
  ],
  ["a credential in capitals", [serviceCredential.replace(": service", ": SERVICE")], "nothing"],
  ["a credential twice", [serviceCredential, serviceCredential], "nothing"],
  ["both credentials", [serviceCredential, outsideCredential], "nothing"],
  ["the key and a service's credential", [theKey, serviceCredential], "nothing"],
  ["the key and the credential of an outside call", [theKey, outsideCredential], "nothing"],
  ["a guessed key and a credential", ["x-svc-trust-key: guess", serviceCredential], "nothing"],
  [
    "a credential of another deployment",
    [
      `x-svc-credential: ${createCredentials("another-trust-key", nodeHost()).fields("service")["x-svc-credential"]}`,
    ],
    "nothing",
  ],
  ["the origin field of earlier versions", ["x-svc-origin: trusted"], "nothing"],
  [
    "the origin field and the credential of an outside call",
    [outsideCredential, "x-svc-origin: trusted"],
    "outside",
  ],
  [
    "a forwarded loopback address",
    ["X-Forwarded-For: 127.0.0.1", "Forwarded: for=127.0.0.1", "X-Real-Ip: 127.0.0.1"],
    "nothing",
  ],
];

const regexp = { value: { serialized: true, name: "RegExp", source: "a", flags: "" } };
const encoded = "x-svc-data-encoding: serialized";
const anyone = ["key", "service", "outside", "nothing"] as const;

/** Guarded requests, the services to send them to, and the status with and without permission. */
const guarded: readonly {
  readonly what: string;
  readonly services: readonly Service[];
  readonly request: RawRequest;
  readonly for: readonly string[];
  readonly allowed: number;
  readonly denied: number;
}[] = [
  {
    what: "a protected procedure",
    services: ["node", "gateway", "proxy"],
    request: { target: "/rpc/a/audit" },
    for: ["key", "service"],
    allowed: 200,
    denied: 401,
  },
  {
    what: "a RegExp among arguments",
    services: ["node", "gateway", "proxy"],
    request: { target: "/rpc/a/echo", json: regexp, fields: [encoded] },
    for: ["key", "service"],
    allowed: 200,
    denied: 400,
  },
  {
    what: "a private procedure",
    services: ["node", "gateway", "proxy"],
    request: { target: "/rpc/a/secret" },
    for: [],
    allowed: 200,
    denied: 404,
  },
  {
    what: "joining",
    services: ["gateway"],
    request: { target: "/nodes", json: { url: "nowhere", procedures: [] } },
    for: ["key"],
    allowed: 400,
    denied: 401,
  },
  {
    what: "renewing",
    services: ["gateway"],
    request: { target: "/nodes/none", method: "PUT" },
    for: ["key"],
    allowed: 404,
    denied: 401,
  },
  {
    what: "whether a member is known",
    services: ["gateway"],
    request: { target: "/nodes/none" },
    for: ["key"],
    allowed: 404,
    denied: 401,
  },
  {
    what: "leaving",
    services: ["gateway"],
    request: { target: "/nodes/none", method: "DELETE" },
    for: ["key"],
    allowed: 404,
    denied: 401,
  },
  {
    what: "joining at a service that isn't a gateway",
    services: ["node"],
    request: { target: "/nodes", json: { url: "nowhere", procedures: [] } },
    for: [],
    allowed: 201,
    denied: 404,
  },
  {
    what: "the modules' manifest",
    services: ["repository"],
    request: { target: "/svc/modules/manifest.json" },
    for: ["key"],
    allowed: 200,
    denied: 404,
  },
  {
    what: "the modules' manifest through the proxy",
    services: ["proxy"],
    request: { target: "/svc/modules/manifest.json" },
    for: [],
    allowed: 200,
    denied: 404,
  },
  {
    what: "the console's state",
    services: ["gateway"],
    request: { target: "/svc/console/state" },
    for: ["key"],
    allowed: 200,
    denied: 404,
  },
  {
    what: "a link to the console",
    services: ["gateway"],
    request: { target: "/svc/console/token", json: {} },
    for: ["key"],
    allowed: 201,
    denied: 404,
  },
  {
    what: "a call of the console",
    services: ["gateway"],
    request: { target: "/svc/console/rpc/a/audit", json: {} },
    for: ["key"],
    allowed: 200,
    denied: 404,
  },
  {
    what: "a move through the console, which is for development",
    services: ["gateway"],
    request: {
      target: "/svc/console/development/move",
      json: { procedure: "a/audit", segment: "main" },
    },
    for: [],
    allowed: 204,
    denied: 404,
  },
  {
    what: "a deadline of its own",
    services: ["node", "gateway"],
    request: { target: "/rpc/a/canary", fields: ["x-svc-deadline: 0"] },
    for: ["key", "service", "outside"],
    allowed: 504,
    denied: 200,
  },
  {
    what: "a count of hops",
    services: ["node", "gateway", "proxy"],
    request: { target: "/rpc/a/canary", fields: ["x-svc-hops: 9"] },
    for: ["key", "service", "outside"],
    allowed: 508,
    denied: 200,
  },
  {
    what: "a public procedure",
    services: ["node", "gateway", "proxy"],
    request: { target: "/rpc/a/canary" },
    for: anyone,
    allowed: 200,
    denied: 200,
  },
];

describe.each(guarded)("$what", ({ services, request, for: permitted, allowed, denied }) => {
  it.each(senders)("is answered or refused correctly with %s", async (_, fields, worth) => {
    const bytes = bytesOf({ ...request, fields: [...(request.fields ?? []), ...fields] });
    if (!permitted.includes(worth)) return void (await attack(sockets, services, bytes, denied));
    for (const service of services)
      expect((await exchange(sockets.ports[service], bytes)).status).toBe(allowed);
  });
});

describe("error stacks", () => {
  it.each(senders)(
    "are only sent to callers of protected procedures, with %s",
    async (_, fields, worth) => {
      for (const service of ["node", "gateway", "proxy"] as const) {
        const request = bytesOf({ target: "/rpc/a/fail", fields: [encoded, ...fields] });
        const { status, body } = await exchange(sockets.ports[service], request);
        expect([status, body.includes('"stack"')]).toEqual([
          500,
          worth === "key" || worth === "service",
        ]);
      }
    },
  );
});
