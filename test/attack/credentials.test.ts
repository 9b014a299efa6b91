import { describe, expect, it } from "vitest";

import type { CallFrom } from "../../src/base/ports.ts";
import { key } from "../_deployment.ts";
import { hasConsole } from "../_has-console.ts";
import { dialAsMember, type FakeMember, socketDial } from "../_fake-member.ts";
import { attack, expectAlive, socketsForAll } from "./_attack.ts";
import { bytesOf, type Service, exchange, type RawRequest } from "./_sockets.ts";

// Every guarded path, with everything that a sender can show or forge: over HTTP in header fields, and over
// links in the kind of a frame.

const sockets = await socketsForAll({ console: true });

const theKey = `x-svc-trust-key: ${key}`;

/** Fields of a request over HTTP, and whether they show the trust key. */
const senders: readonly (readonly [
  what: string,
  fields: readonly string[],
  worth: "key" | "nothing",
])[] = [
  ["the trust key", [theKey], "key"],
  ["nothing", [], "nothing"],
  ["a guessed key", ["x-svc-trust-key: guess"], "nothing"],
  ["an empty key", ["x-svc-trust-key:"], "nothing"],
  ["the key twice", [theKey, theKey], "nothing"],
  ["the key and a guess", [theKey, "x-svc-trust-key: guess"], "nothing"],
  ["an empty credential", ["x-svc-credential:"], "nothing"],
  ["a credential without a value", ["x-svc-credential: service"], "nothing"],
  ["the key as the credential's value", [`x-svc-credential: service ${key}`], "nothing"],
  [
    "a guessed key and a credential",
    ["x-svc-trust-key: guess", `x-svc-credential: ${key}`],
    "nothing",
  ],
  ["the kind of a frame", ["x-svc-from: key", "from: key"], "nothing"],
  ["an origin in a field", ["x-svc-origin: trusted"], "nothing"],
  [
    "a forwarded loopback address",
    ["X-Forwarded-For: 127.0.0.1", "Forwarded: for=127.0.0.1", "X-Real-Ip: 127.0.0.1"],
    "nothing",
  ],
];

/** Kinds of requests over a link: of the service itself, of its procedures, and of callers outside, with the key or without. */
const kinds = ["key", "service", "trusted", "outside"] as const satisfies readonly CallFrom[];

const regexp = { value: { serialized: true, name: "RegExp", source: "a", flags: "" } };
const encoded = "x-svc-data-encoding: serialized";
const join = { target: "/nodes", json: { url: "nowhere", procedures: [] } };

/** Guarded requests, the services to send them to, and the status with and without permission. */
const guarded: readonly {
  readonly what: string;
  readonly services: readonly Service[];
  readonly request: RawRequest;
  /** Whether the trust key opens it over HTTP. */
  readonly opens: boolean;
  readonly allowed: number;
  readonly denied: number;
}[] = [
  {
    what: "a protected procedure",
    services: ["node", "gateway", "proxy"],
    request: { target: "/rpc/a/audit" },
    opens: true,
    allowed: 200,
    denied: 401,
  },
  {
    what: "a RegExp among arguments",
    services: ["node", "gateway", "proxy"],
    request: { target: "/rpc/a/echo", json: regexp, fields: [encoded] },
    opens: true,
    allowed: 200,
    denied: 400,
  },
  {
    what: "a private procedure",
    services: ["node", "gateway", "proxy"],
    request: { target: "/rpc/a/secret" },
    opens: false,
    allowed: 200,
    denied: 404,
  },
  {
    what: "the members of a gateway",
    services: ["gateway"],
    request: { target: "/nodes" },
    opens: true,
    allowed: 200,
    denied: 401,
  },
  {
    what: "the members at a service that isn't a gateway",
    services: ["node", "proxy"],
    request: { target: "/nodes" },
    opens: false,
    allowed: 200,
    denied: 404,
  },
  {
    what: "joining at a service that isn't a gateway",
    services: ["node"],
    request: join,
    opens: false,
    allowed: 201,
    denied: 404,
  },
  {
    what: "the modules' manifest",
    services: ["repository"],
    request: { target: "/svc/modules/manifest.json" },
    opens: true,
    allowed: 200,
    denied: 404,
  },
  {
    what: "the modules' manifest through the proxy",
    services: ["proxy"],
    request: { target: "/svc/modules/manifest.json" },
    opens: false,
    allowed: 200,
    denied: 404,
  },
  {
    what: "the console's state",
    services: ["gateway"],
    request: { target: "/svc/console/state" },
    opens: true,
    allowed: 200,
    denied: 404,
  },
  {
    what: "a link to the console",
    services: ["gateway"],
    request: { target: "/svc/console/token", json: {} },
    opens: true,
    allowed: 201,
    denied: 404,
  },
  {
    what: "a call of the console",
    services: ["gateway"],
    request: { target: "/svc/console/rpc/a/audit", json: {} },
    opens: true,
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
    opens: false,
    allowed: 204,
    denied: 404,
  },
];

const isThere = ({ request: { target = "" } }: (typeof guarded)[number]): boolean =>
  hasConsole || !target.startsWith("/svc/console");

describe.each(guarded.filter(isThere))(
  "$what, over HTTP",
  ({ services, request, opens, allowed, denied }) => {
    it.each(senders)("is answered or refused correctly with %s", async (_, fields, worth) => {
      const bytes = bytesOf({ ...request, fields: [...(request.fields ?? []), ...fields] });
      if (!opens || worth !== "key") return void (await attack(sockets, services, bytes, denied));
      for (const service of services)
        expect((await exchange(sockets.ports[service], bytes)).status).toBe(allowed);
    });
  },
);

/** The links of a deployment: the dialling role, and its address. */
const links = {
  "a node to its gateway": ["node", "gateway"],
  "a proxy to its gateway": ["proxy", "gateway"],
  "a proxy to a node": ["proxy", "node"],
  "a node to its repository": ["node", "repository"],
  "a proxy to its repository": ["proxy", "repository"],
} as const satisfies Record<string, readonly [role: string, service: Service]>;
type LinkName = keyof typeof links;

const ofCallers: readonly LinkName[] = ["a proxy to its gateway", "a proxy to a node"];

/** Guarded requests over links: the status that the other end gives to each kind that it takes at all. */
const overLinks: readonly {
  readonly what: string;
  readonly by: readonly LinkName[];
  readonly method?: string;
  readonly target: string;
  readonly json?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  readonly answers: Readonly<Partial<Record<CallFrom, number>>>;
}[] = [
  {
    what: "a public procedure",
    by: ofCallers,
    target: "/rpc/a/canary",
    answers: { trusted: 200, outside: 200 },
  },
  {
    what: "a protected procedure",
    by: ofCallers,
    target: "/rpc/a/audit",
    answers: { trusted: 200, outside: 401 },
  },
  {
    what: "a protected procedure, for the procedures of another node",
    by: ["a node to its gateway"],
    target: "/rpc/a/audit",
    answers: { service: 200 },
  },
  {
    what: "a RegExp among arguments",
    by: ofCallers,
    target: "/rpc/a/echo",
    json: regexp,
    headers: { "x-svc-data-encoding": "serialized" },
    answers: { trusted: 200, outside: 400 },
  },
  {
    what: "a private procedure",
    by: ofCallers,
    target: "/rpc/a/secret",
    answers: { trusted: 404, outside: 404 },
  },
  {
    what: "a deadline that has passed",
    by: ofCallers,
    target: "/rpc/a/canary",
    headers: { "x-svc-deadline": "0" },
    answers: { trusted: 504, outside: 504 },
  },
  {
    what: "a count of hops",
    by: ofCallers,
    target: "/rpc/a/canary",
    headers: { "x-svc-hops": "9" },
    answers: { trusted: 508, outside: 508 },
  },
  {
    what: "joining, with an address that is none",
    by: ["a node to its gateway"],
    ...join,
    answers: { key: 400, service: 401 },
  },
  {
    what: "joining for a caller outside",
    by: ["a proxy to its gateway"],
    ...join,
    answers: { trusted: 401, outside: 401 },
  },
  {
    what: "leaving, of a member that isn't there",
    by: ["a node to its gateway"],
    method: "DELETE",
    target: "/nodes",
    answers: { key: 204, service: 401 },
  },
  {
    what: "joining at a service that isn't a gateway",
    by: ["a proxy to a node"],
    ...join,
    answers: { trusted: 404, outside: 404 },
  },
  {
    what: "the members",
    by: ["a proxy to its gateway"],
    target: "/nodes",
    answers: { trusted: 401, outside: 401 },
  },
  {
    what: "the modules' manifest",
    by: ["a node to its repository", "a proxy to its repository"],
    target: "/svc/modules/manifest.json",
    answers: { key: 200 },
  },
  {
    what: "the modules' manifest for a caller outside",
    by: ["a proxy to its repository"],
    target: "/svc/modules/manifest.json",
    answers: { outside: 404 },
  },
  {
    what: "the console's state",
    by: ["a proxy to its gateway"],
    target: "/svc/console/state",
    answers: { trusted: 404, outside: 404 },
  },
];

/** Nothing in a head's fields adds to what the kind of its frame says. */
const inHeads: readonly (readonly [what: string, headers: Readonly<Record<string, string>>])[] = [
  ["nothing besides", {}],
  ["the trust key in a field", { "x-svc-trust-key": key }],
  ["a credential in a field", { "x-svc-credential": `service ${key}` }],
];

async function dial(name: LinkName): Promise<FakeMember> {
  const [role, service] = links[name];
  const gateway = `http://127.0.0.1:${sockets.ports[service]}`;
  return await dialAsMember({ dial: socketDial(), gateway, role, roles: [service] });
}

describe.each(overLinks)(
  "$what, over a link",
  ({ by, method, target, json, headers = {}, answers }) => {
    const body = json === undefined ? "" : JSON.stringify(json);
    const type: Readonly<Record<string, string>> =
      json === undefined ? {} : { "content-type": "application/json" };
    it.each(inHeads)("is answered as the kind of its frame says, with %s", async (_, fields) => {
      for (const name of by) {
        const [, service] = links[name];
        const link = await dial(name);
        const verb = method ?? (json === undefined ? "GET" : "POST");
        for (const from of kinds) {
          if (answers[from] === undefined) continue;
          const head = { ...type, ...headers, ...fields };
          const { status } = await link.request(verb, target, body, head, from);
          expect([name, from, status]).toEqual([name, from, answers[from]]);
          await expectAlive(sockets, service);
        }
        link.die();
      }
    });
  },
);

describe("error stacks", () => {
  it.each(senders)(
    "are only sent to callers of protected procedures, with %s",
    async (_, fields, worth) => {
      for (const service of ["node", "gateway", "proxy"] as const) {
        const request = bytesOf({ target: "/rpc/a/fail", fields: [encoded, ...fields] });
        const { status, body } = await exchange(sockets.ports[service], request);
        expect([status, body.includes('"stack"')]).toEqual([500, worth === "key"]);
      }
    },
  );

  it.each(ofCallers)(
    "are sent to callers with the key, and not to others: over the link of %s",
    async (name) => {
      const link = await dial(name);
      for (const from of ["trusted", "outside"] as const) {
        const head = { "x-svc-data-encoding": "serialized" };
        const { status, text } = await link.request("GET", "/rpc/a/fail", "", head, from);
        expect([status, text.includes('"stack"')]).toEqual([500, from === "trusted"]);
      }
      link.die();
    },
  );
});
