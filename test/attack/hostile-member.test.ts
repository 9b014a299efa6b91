// A member that answers with settings that no procedure could have made, and the answer that a proxy sends.

import { beforeEach, describe, expect, it } from "vitest";

import { getContext } from "../../server/host/carrier.ts";
import { ask, TestDeployment, testModules } from "../_cluster.ts";
import { dialAsMember, type FakeAnswer, fakeMember, memoryDial } from "../_fake-member.ts";
import { body } from "../spec/_shop.ts";

const form = (value: unknown): string =>
  Buffer.from(typeof value === "string" ? value : JSON.stringify(value)).toString("base64url");

describe("an answer of a member", () => {
  let local: TestDeployment;
  let answer: FakeAnswer;

  beforeEach(async () => {
    local = new TestDeployment();
    await local.gateway();
    await fakeMember(
      { dial: memoryDial(local.network), behave: () => answer },
      { procedures: ["a/call"] },
    );
  });

  const answered = async (headers: NonNullable<FakeAnswer["headers"]>) => {
    answer = {
      status: 200,
      headers: { "content-type": "application/json", ...headers },
      body: "1",
    };
    const gateway = await ask(local.network.roles.get("http://gateway")!, "GET", "/rpc/a/call");
    const proxy = await ask(await local.proxy(), "GET", "/rpc/a/call");
    expect(proxy.status).toBe(gateway.status);
    return proxy;
  };

  it.each([
    ["no JSON", "{"],
    ["null", null],
    ["a number", 5],
    ["headers that are no list", { headers: 5 }],
    ["a header that is no list", { headers: ["x-a"] }],
    ["a header with one text for its values", { headers: [["x-a", "1", false]] }],
    ["a header's value that is a number", { headers: [["x-a", [1], false]] }],
    ["a line break in a header", { headers: [["x-a", ["1\r\nx-b: 2"], false]] }],
    ["a header's name with a space", { headers: [["x a", ["1"], false]] }],
    ["a header of the connection", { headers: [["transfer-encoding", ["chunked"], false]] }],
    ["the length of the content", { headers: [["Content-Length", ["1"], false]] }],
    ["a redirect", { headers: [["location", ["https://evil.example"], false]] }],
    ["a header of CORS", { headers: [["access-control-allow-origin", ["*"], false]] }],
    ["a cookie as a header", { headers: [["set-cookie", ["a=1"], false]] }],
    ["one of our own fields", { headers: [["x-svc-credential", ["1"], false]] }],
    ["cookies that are no list", { cookies: 5 }],
    ["a cookie that is null", { cookies: [null] }],
    ["a cookie that is a number", { cookies: [["a", 5]] }],
    ["a line break in a cookie", { cookies: [["a", "a=1\r\nx-b: 2"]] }],
    ["a cookie that browsers drop", { cookies: [["a", `a=${"x".repeat(5_000)}`]] }],
    ["the status of an error", { status: 500 }],
    ["a status that is a text", { status: "200" }],
  ])("with settings that no procedure can make is 502: %s", async (_what, settings) => {
    const { status, headers, text } = await answered({
      "x-svc-response": typeof settings === "string" ? form("{") : form(settings),
    });
    expect([status, headers["x-svc-error"]]).toEqual([502, "BadGateway"]);
    expect(text).toBe("The settings of an answer can't be read");
    expect(Object.keys(headers)).not.toContain("set-cookie");
  });

  it("with two fields of settings is 502", async () => {
    const field = form({ cookies: [["a", "a=1"]] });
    expect((await answered({ "x-svc-response": [field, field] })).status).toBe(502);
  });

  it("is passed on without fields that services only send each other", async () => {
    const { headers } = await answered({
      "x-svc-credential": "service 1",
      "x-svc-trust-key": "1",
      "x-svc-locals": "1",
      "x-svc-request": "1",
      "x-svc-hops": "1",
      "x-svc-refused": "yes",
      "x-svc-made-up": "1",
      "x-svc-data-type": "number",
      "x-svc-node": "shop-1",
    });
    expect(Object.keys(headers).filter((name) => name.startsWith("x-svc-"))).toEqual([
      "x-svc-data-type",
      "x-svc-node",
    ]);
  });
});

it.each([
  "%%%",
  form("{"),
  form("5"),
  form("[]"),
  form({ serialized: true, name: "Map", entries: {} }),
])("locals that another service sends and that can't be read are 400: %s", async (field) => {
  const local = new TestDeployment();
  await local.standalone({
    modules: testModules([
      { fqn: "a/call", in: { a: "public" }, body: body("a/call", () => getContext().locals) },
    ]),
  });
  const proxy = await dialAsMember({
    dial: memoryDial(local.network),
    gateway: "http://standalone",
    role: "proxy",
    roles: ["standalone"],
  });
  for (const from of ["trusted", "outside"] as const) {
    const headers = { "x-svc-locals": field };
    const answer = await proxy.request("GET", "/rpc/a/call", "", headers, from);
    expect(answer.status).toBe(400);
    expect(answer.text).toMatch(/^The field x-svc-locals can't be read/);
  }
});
