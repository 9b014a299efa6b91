// The console's controls in development: who may use them, and what a request may contain.

import { beforeEach, describe, expect, it } from "vitest";
import { BadRequest } from "../../src/base/errors.ts";
import type { Controls } from "../../server/console/console-port.ts";
import { createConsole } from "../../console/server/console.ts";
import { createGateway } from "../../src/roles/gateway.ts";
import type { Role } from "../../src/roles/pipeline/role.ts";
import { defaultLimits } from "../../src/base/limits.ts";
import { ask, TestClock, testHost, TestNetwork } from "../_cluster.ts";
import { alone, cookieOf, json, key, ofThePage, signIn, tokenOf, withKey } from "./_console.ts";

const address = "http://localhost:5173";
const page = { host: "localhost:5173", origin: address, "sec-fetch-site": "same-origin" } as const;
const move = "/svc/console/development/move";
const wanted = JSON.stringify({ procedure: "shop/quote", segment: "store" });

let gateway: Role;
let session: Readonly<Record<string, string>>;
let done: string[];

beforeEach(async () => {
  done = [];
  const nodes = new Set(["office"]);
  const onNode = (verb: string) => async (node: string) => {
    if (!nodes.has(node)) throw new BadRequest(`There is no node '${node}'; there is office`);
    done.push(`${verb} ${node}`);
  };
  const controls: Controls = {
    state: () => ({ nodes: [], browserSegments: ["ui"], problems: [] }),
    procedures: () => [],
    kill: onNode("kill"),
    start: onNode("start"),
    move: async (fqn, segment) => void done.push(`move ${fqn} to ${segment}`),
  };
  const host = testHost(new TestNetwork(), new TestClock());
  const console = createConsole(host, {
    trustKey: key,
    secure: false,
    masks: false,
    file: async () => undefined,
    controls,
  });
  gateway = createGateway(host, {
    trustKey: key,
    limits: defaultLimits,
    web: { hosts: ["*"] },
    healthIntervalMs: 60_000,
    newId: () => "m1",
    observer: console,
  });
  await gateway.start(address);
  const answer = await ask(
    gateway,
    "POST",
    "/svc/console/session",
    { ...page, ...json },
    JSON.stringify({ token: tokenOf(console.link()) }),
  );
  session = { ...page, cookie: cookieOf(answer.headers["set-cookie"]), ...json };
});

const post = async (
  path: string,
  headers: Readonly<Record<string, string | undefined>>,
  body: string = wanted,
) => {
  const sent = Object.entries(headers).filter(
    (header): header is [string, string] => header[1] !== undefined,
  );
  return await ask(gateway, "POST", path, Object.fromEntries(sent), body);
};

describe("the console's controls in development", () => {
  it("the console's page can move a procedure, and kill and start a node", async () => {
    expect((await post(move, session)).status).toBe(204);
    const node = JSON.stringify({ node: "office" });
    expect((await post("/svc/console/development/kill", session, node)).status).toBe(204);
    expect((await post("/svc/console/development/start", session, node)).status).toBe(204);
    expect(done).toEqual(["move shop/quote to store", "kill office", "start office"]);
  });

  it("the console's state lists what can be controlled, but only in development", async () => {
    const state = await ask(gateway, "GET", "/svc/console/state", session);
    expect(JSON.parse(state.text)).toMatchObject({ development: { browserSegments: ["ui"] } });
    const production = await alone();
    const other = await ask(production.gateway, "GET", "/svc/console/state", withKey);
    expect(JSON.parse(other.text)).not.toHaveProperty("development");
  });

  it.each([
    ["kill", { node: "cellar" }, "There is no node 'cellar'; there is office"],
    ["kill", { node: "constructor" }, "There is no node 'constructor'; there is office"],
    ["kill", { node: "__proto__" }, "There is no node '__proto__'; there is office"],
    ["kill", {}, "'node' is missing"],
    ["kill", { node: ["office"] }, "'node' is missing"],
    ["start", { node: "" }, "'node' is missing"],
    ["move", { procedure: "shop/quote" }, "'segment' is missing"],
    ["move", { segment: "store", procedure: null }, "'procedure' is missing"],
  ])("is told what is wrong with %s %o", async (name, values, message) => {
    const answer = await post(`/svc/console/development/${name}`, session, JSON.stringify(values));
    expect([answer.status, answer.text]).toEqual([400, message]);
    expect(done).toEqual([]);
  });

  it.each(["", "null", "[]", "{", '"shop/quote"', '{"__proto__":{"procedure":"a","segment":"b"}}'])(
    "a control with the body %s answers 400",
    async (body) => {
      expect((await post(move, session, body)).status).toBe(400);
      expect(done).toEqual([]);
    },
  );

  it("a control with a body larger than any name answers 413", async () => {
    const large = JSON.stringify({ procedure: "a".repeat(5_000), segment: "store" });
    expect((await post(move, session, large)).status).toBe(413);
    expect(done).toEqual([]);
  });

  it("an unknown control answers 404", async () => {
    for (const name of ["", "constructor", "__proto__", "move/", "MOVE", "move%2f", "../rpc/a"])
      expect((await post(`/svc/console/development/${name}`, session)).status).toBe(404);
    expect(done).toEqual([]);
  });
});

describe("the console's controls refuse everyone else", () => {
  it.each<[string, Readonly<Record<string, string | undefined>>]>([
    ["no session", { cookie: undefined }],
    ["a wrong session", { cookie: `svc-console-5173=${"0".repeat(64)}` }],
    ["the trust key in place of a session", { cookie: undefined, ...withKey }],
    ["no Origin", { origin: undefined }],
    ["another site's Origin", { origin: "https://evil.example" }],
    ["the Origin of another port", { origin: "http://localhost:8080" }],
    ["the Origin null", { origin: "null" }],
    ["a page of another site", { "sec-fetch-site": "cross-site" }],
    ["a page of another port", { "sec-fetch-site": "same-site" }],
    [
      "a name that was pointed here",
      { host: "evil.example:5173", origin: "http://evil.example:5173" },
    ],
    [
      "a name that begins like ours",
      { host: "localhost.evil.example:5173", origin: "http://localhost.evil.example:5173" },
    ],
    [
      "this machine's address in the network",
      { host: "192.168.1.7:5173", origin: "http://192.168.1.7:5173" },
    ],
    ["no host", { host: undefined }],
  ])("with %s", async (_, changes) => {
    const answer = await post(move, { ...session, ...changes });
    expect([403, 404]).toContain(answer.status);
    expect(done).toEqual([]);
  });

  it("a host name that resolves to this machine is refused even with its own session", async () => {
    const cookie = session["cookie"]!;
    for (const host of ["evil.example:5173", "127.0.0.1.evil.example:5173", "localhost.:5173x"]) {
      const answer = await post(move, { ...session, host, origin: `http://${host}`, cookie });
      expect(answer.status).toBe(404);
    }
    expect(done).toEqual([]);
  });

  it.each(["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x"])(
    "a control with a form's content type %s answers 400",
    async (type) => {
      expect((await post(move, { ...session, "content-type": type })).status).toBe(400);
      expect(done).toEqual([]);
    },
  );

  it.each(["GET", "HEAD", "PUT", "DELETE", "OPTIONS"])(
    "a control by %s answers 404",
    async (method) => {
      const answer = await ask(gateway, method, move, session, wanted);
      expect(answer.status).toBe(404);
      expect(done).toEqual([]);
    },
  );
});

it("in production the console's controls answer 404, even with a session", async () => {
  const production = await alone();
  const headers = { ...(await signIn(production)), ...ofThePage, ...json };
  const answer = await ask(production.gateway, "POST", move, headers, wanted);
  expect([answer.status, answer.text]).toEqual([404, "Not found"]);
});
