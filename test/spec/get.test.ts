import { describe, expect, it } from "vitest";

import { type Endpoint, callEndpoint } from "../_endpoint.ts";
import { ask } from "../_cluster.ts";
import { deploy, key } from "../_deployment.ts";
import { encoded, useKinds } from "./_kinds.ts";

const { get, post } = useKinds();
const echo: Endpoint = {
  parameters: [
    { kind: "plain", name: "text" },
    { kind: "plain", name: "count", type: "number", optional: true },
    { kind: "plain", name: "days", type: "Date[]", optional: true },
  ],
  run: (...args: unknown[]) => args,
};

describe("GET /rpc: values by name in the query", () => {
  it("values of a query are text, unless the parameter has another type", async () => {
    expect(
      (await callEndpoint(echo, { query: "text=a%20b+c&count=2&days=2021-01-01&days=2021-01-02" }))
        .text,
    ).toBe('["a b c",2,["2021-01-01T00:00:00.000Z","2021-01-02T00:00:00.000Z"]]');
    expect((await callEndpoint(echo, { query: "text=5&days=2021-01-01" })).text).toBe(
      '["5",null,["2021-01-01T00:00:00.000Z"]]',
    );
    expect((await callEndpoint(echo, { query: "text=a&text=b" })).text).toBe(
      '[["a","b"],null,null]',
    );
  });
  it("values of a query that can't be converted are 400 InvalidParameterValue", async () => {
    expect(await callEndpoint(echo, { query: "text=a&count=many" })).toMatchObject({
      status: 400,
      text: "parameter 'count' must be a number",
    });
    expect(await callEndpoint(echo, { query: "text=a&count=" })).toMatchObject({ status: 400 });
  });
  it("version in a query is not a parameter of the procedure", async () => {
    expect((await callEndpoint(echo, { query: "version=1.0.0&text=a" })).status).toBe(200);
    const own: Endpoint = {
      parameters: [{ kind: "plain", name: "version", type: "number" }],
      run: () => 1,
    };
    expect(await callEndpoint(own, { query: "version=1.0.0" })).toMatchObject({
      status: 400,
      text: "Missing value for parameter 'version'",
    });
  });
  it("missing and unknown parameters of a query are 400, and all are named", async () => {
    expect(await callEndpoint(echo, { query: "x=1" })).toMatchObject({
      status: 400,
      text: "Missing value for parameter 'text'",
    });
    expect(await callEndpoint(echo, { query: "text=a&x=1&__proto__=2" })).toMatchObject({
      status: 400,
      text: "Unknown parameters 'x', '__proto__'",
    });
  });
  it("a query has at most 100 values", async () => {
    expect(await callEndpoint(echo, { query: "text=a&".repeat(101) })).toMatchObject({
      status: 400,
      text: "More than 100 query parameters (limit 'maxQueryParameters')",
    });
  });
  it("malformed escapes in a query are text", async () => {
    expect((await callEndpoint(echo, { query: "text=%E0%A4%A" })).status).toBe(200);
  });
});

describe("a call by GET", () => {
  it("get-1: GET /rpc/<FQN> runs the procedure", async () => {
    expect(await get("none")).toMatchObject({ status: 200, text: "ran" });
  });

  it("get-2: a GET has its values in the query, by name", async () => {
    expect((await get("plain?second=b%20c&first=a+d")).text).toBe('["a d","b c"]');
  });

  it("get-3: version in the query of a GET selects the procedure's version", async () => {
    const { proxy } = await deploy();
    for (const [version, text] of [
      ["1", "1"],
      ["2.0.0", "2"],
    ] as const)
      expect((await ask(proxy, "GET", `/rpc/shop/price?version=${version}`)).text).toBe(text);
  });

  it("get-4: version is not a parameter, even if a procedure has one of this name", async () => {
    expect((await get("none?version=0")).text).toBe("ran");
    expect((await get("edition?version=0.0.0")).text).toBe("edition none");
    expect((await post("edition?version=0", { version: "second" })).text).toBe("edition second");
  });

  it("get-5: a result that is not an object is sent as text", async () => {
    for (const [kind, text] of [
      ["text", "t\u00e4xt \u{1f9f5}"],
      ["number", "-12.5"],
      ["true", "true"],
      ["bigint", "1180591620717411303424"],
    ] as const)
      expect((await get(`result?of=${kind}`)).text).toBe(text);
  });

  it("get-6: a result that is an object is sent as JSON", async () => {
    expect((await get("result?of=object")).text).toBe('{"a":{"b":[true]}}');
    expect((await get("result?of=date")).text).toBe('"1970-01-01T00:00:00.000Z"');
  });

  it("get-7: with the header, objects are sent as serialized objects", async () => {
    const { text } = await get("result?of=private", encoded);
    const missing = { serialized: true, name: "Undefined" };
    const instance = {
      serialized: true,
      key: "people/Person",
      name: "class",
      args: { 0: "Ada", 1: missing },
      fields: {},
    };
    expect(JSON.parse(text)).toEqual(instance);
  });

  it("get-8: without the header, an instance with private state is an empty object: getters and private members are left out", async () => {
    expect((await get("result?of=private")).text).toBe("{}");
    expect((await get("result?of=reel")).text).toBe('{"metres":12}');
  });

  it("get-9: plain objects are the same with the header and without", async () => {
    for (const kind of ["object", "empty object"])
      expect((await get(`result?of=${kind}`, encoded)).text).toBe(
        (await get(`result?of=${kind}`)).text,
      );
  });

  it("get-10: only public procedures can be called; a private one is 404, not found", async () => {
    const { proxy, b } = await deploy();
    for (const endpoint of [proxy, b])
      expect(await ask(endpoint, "GET", "/rpc/shop/secret")).toMatchObject({
        status: 404,
        headers: { "x-svc-error": "ProcedureNotFound" },
      });
  });

  it("get-11: a protected procedure has an endpoint as well, which takes a header", async () => {
    const { proxy } = await deploy();
    expect((await ask(proxy, "GET", "/rpc/shop/audit")).status).toBe(401);
    expect(await ask(proxy, "GET", "/rpc/shop/audit", { "x-svc-trust-key": key })).toMatchObject({
      status: 200,
      text: "audited",
    });
  });
});

describe("values of a GET", () => {
  it("calls-1: the values of a GET are text", async () => {
    expect((await get("plain?first=1&second=null")).text).toBe('["1","null"]');
    expect((await get('plain?first={"a":1}&second=')).text).toBe('["{\\"a\\":1}",""]');
  });

  it("calls-2: brackets in a query have no meaning: they are part of a name", async () => {
    expect(await get("plain?first[]=1&second=2")).toMatchObject({
      status: 400,
      text: "Missing value for parameter 'first'",
    });
    expect(await get("plain?first=1&second=2&first[a]=3")).toMatchObject({
      status: 400,
      text: "Unknown parameter 'first[a]'",
    });
  });

  it("calls-3: a name that a query has more than once is a list", async () => {
    expect((await get("plain?first=a&second=b&first=c&first=a")).text).toBe('[["a","c","a"],"b"]');
  });

  it("calls-4: version given twice in a query is 400", async () => {
    for (const query of ["version=0&version=0", "version=&version=", "version=0&version=1"])
      expect(await get(`none?${query}`), query).toMatchObject({
        status: 400,
        text: "The query parameter 'version' was given more than once",
      });
  });

  it("calls-5: text of a GET is converted to the parameter's TypeScript type: number, boolean, bigint, Date", async () => {
    const { text } = await get(
      "typed?number=1e3&flag=false&big=-7&day=2021-01-01T10:00:00Z",
      encoded,
    );
    expect(JSON.parse(text)).toEqual([
      1000,
      false,
      { serialized: true, name: "BigInt", value: "-7" },
      { serialized: true, name: "Date", value: "2021-01-01T10:00:00.000Z" },
    ]);
  });

  it("calls-6: text of a GET is converted to a list if the type is a list of numbers, booleans, bigints or Dates", async () => {
    expect(
      (await get("lists?numbers=1&numbers=2&flags=true&bigs=3&bigs=4&days=2021-01-01")).text,
    ).toBe('[[1,2],[true],["3","4"],["2021-01-01T00:00:00.000Z"],[]]');
  });

  it.each([
    ["number=x", "number: expected number, got text"],
    ["number=1&number=2", "number: expected number, got a list"],
    ["number=1&flag=1", "flag: expected boolean, got text"],
    ["number=1&big=1.5", "big: expected a whole number, or text of one, got text"],
    ["number=1&day=today", "day: expected a date (ISO 8601), got text"],
    [
      "number=x&big=y",
      "number: expected number, got text\nbig: expected a whole number, or text of one, got text",
    ],
  ])(
    "calls-7: text of a GET that can't be converted is 400 InvalidParameterValue: %s",
    async (query, text) => {
      expect(await get(`typed?${query}`)).toMatchObject({
        status: 400,
        text,
        headers: { "x-svc-error": "InvalidParameterValue" },
      });
    },
  );
});
