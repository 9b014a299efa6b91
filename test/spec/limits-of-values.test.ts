import { beforeAll, describe, expect, it } from "vitest";

import { listen } from "../../server/http/http.ts";
import type { IncomingResponse } from "../../src/base/ports.ts";
import type { Role } from "../../src/roles/pipeline/role.ts";
import { defaultLimits, type Limits } from "../../src/base/limits.ts";
import { encodeArguments } from "../../src/codec/serialized.ts";
import { TestDeployment, ask, testModules, type TestNetwork } from "../_cluster.ts";
import { postTo } from "../_sockets.ts";
import { createWireClasses } from "../_wire-classes.ts";
import { body, call, names } from "./_shop.ts";
import { anyPort, applicationOf, start as open } from "./_started.ts";

const mark = (name: string, rest: object = {}): object => ({ serialized: true, name, ...rest });
const url = { gateway: "http://gateway", node: "http://node", relay: "http://relay" } as const;
const made: Record<string, () => unknown> = {};

/** Gateway and two nodes, with default limits except these. */
async function start(
  limits: Partial<Record<keyof typeof url, Partial<Limits>>> = {},
): Promise<TestNetwork> {
  const local = new TestDeployment();
  const limitsOf = (name: keyof typeof url): Limits => ({ ...defaultLimits, ...limits[name] });
  const procedures = [
    {
      fqn: "echo",
      parameters: names("value"),
      in: { one: "public" as const },
      body: body("echo", (_, _graph, value) => value),
    },
    {
      fqn: "count",
      parameters: [{ kind: "rest" as const, name: "all" }],
      in: { one: "public" as const },
      body: body("count", () => 1),
    },
    {
      fqn: "made",
      parameters: names("name"),
      in: { one: "public" as const },
      body: body("made", (_, _graph, name: string) => made[name]?.()),
    },
    {
      fqn: "relay",
      parameters: names("name"),
      in: { two: "public" as const },
      body: body("relay", (_, graph, name: string) =>
        call(graph, "echo", names("value"), made[name]?.()),
      ),
    },
  ];
  await local.gateway({ limits: limitsOf("gateway") });
  for (const [name, segment] of [
    ["node", "one"],
    ["relay", "two"],
  ] as const)
    await local.node(name, {
      limits: limitsOf(name),
      modules: testModules(procedures),
      segments: [segment],
    });
  return local.network;
}

const headers = { "content-type": "application/json", "x-svc-data-encoding": "serialized" };
let network: TestNetwork;
beforeAll(async () => {
  network = await start();
});

type Endpoint = keyof typeof url;
const post = async (
  text: string,
  at: Endpoint,
  on = network,
): Promise<IncomingResponse & { text: string }> =>
  await ask(on.roles.get(url[at]) as Role, "POST", "/rpc/echo", headers, text);
/** `200`, or the status with the error's name and message. */
async function outcomeOf(answer: IncomingResponse & { text: string }): Promise<string> {
  if (answer.status === 200) return "200";
  const { type, message } = JSON.parse(answer.text) as { type: string; message: string };
  return `${answer.status} ${type}: ${message}`;
}
const value = (text: string): string => `{"value":${text}}`;
const list = (items: number, item: string): string =>
  value(`[${`${item},`.repeat(items - 1)}${item}]`);
const nest = (levels: number): string => value(`${"[".repeat(levels)}${"]".repeat(levels)}`);
const date = JSON.stringify(mark("Date", { value: null }));
const digits = (count: number, sign = ""): string =>
  value(JSON.stringify(mark("BigInt", { value: sign + "9".repeat(count) })));

describe.each(["node", "gateway"] as const)(
  "limits, at the limit and one past it, asked at the %s:",
  (at) => {
    it("forms-38, limits-7: data has at most 128 levels; more is a 400 that names the limit, before anything is decoded", async () => {
      expect(await outcomeOf(await post(nest(127), at))).toBe("200");
      expect(await outcomeOf(await post(nest(128), at))).toBe(
        "400 BadRequest: More than 128 levels of nesting (limit 'maxDepth')",
      );
      expect(await outcomeOf(await post("[".repeat(1_000_000), at))).toContain(
        "(limit 'maxDepth')",
      );
      // Brackets in strings don't count.
      expect(await outcomeOf(await post(value(JSON.stringify("[{".repeat(1000))), at))).toBe("200");
    });
    it("forms-39, limits-8: data has at most 100,000 values; more is a 400 that names the limit", async () => {
      // The body and the list are two of them.
      expect(await outcomeOf(await post(list(99_998, "1"), at))).toBe("200");
      expect(await outcomeOf(await post(list(99_999, "1"), at))).toBe(
        "400 BadRequest: More than 100000 values (limit 'maxValues')",
      );
      expect(await outcomeOf(await post(list(99_998, "[]"), at))).toBe("200");
      expect(await outcomeOf(await post(list(99_999, "{}"), at))).toContain("(limit 'maxValues')");
    });
    it("forms-40, limits-10: data has at most 10,000 constructed objects; more is a 400 that names the limit and the place", async () => {
      expect(await outcomeOf(await post(list(10_000, date), at))).toBe("200");
      expect(await outcomeOf(await post(list(10_001, date), at))).toBe(
        "400 InvalidSerializedValue: args.value[10000]: more than 10000 constructed objects (limit 'maxObjects')",
      );
    });
    it("forms-41, limits-9: a bigint has at most 10,000 digits; more is a 400 that names the limit", async () => {
      for (const sign of ["", "-"]) {
        expect(await outcomeOf(await post(digits(10_000, sign), at))).toBe("200");
        expect(await outcomeOf(await post(digits(10_001, sign), at))).toBe(
          "400 InvalidSerializedValue: args.value: more than 10000 digits (limit 'maxDigits')",
        );
      }
    });
    it("forms-42, limits-11: a query has at most 100 parameters; more is a 400 that names the limit", async () => {
      const get = async (count: number): Promise<string> =>
        await outcomeOf(
          await ask(
            network.roles.get(url[at]) as Role,
            "GET",
            `/rpc/echo?${"value=1&".repeat(count)}`,
            headers,
          ),
        );
      expect(await get(100)).toBe("200");
      expect(await get(101)).toMatch(/^400 BadRequest: .*100.*\(limit 'maxQueryParameters'\)/);
      // The version doesn't count. Other parameters in the query of a POST count, though nothing
      // reads them.
      const ask101 = async (count: number, content: string): Promise<string> =>
        await outcomeOf(
          await ask(
            network.roles.get(url[at]) as Role,
            "POST",
            `/rpc/echo?version=0.0.0&${"x=1&".repeat(count)}`,
            headers,
            content,
          ),
        );
      for (const content of ['{"value":1}', ""]) {
        expect(await ask101(100, content)).toMatch(
          content === "" ? /^400 MissingParameterValue/ : /^200$/,
        );
        expect(await ask101(101, content)).toBe(
          "400 BadRequest: More than 100 query parameters (limit 'maxQueryParameters')",
        );
      }
    });
  },
);

describe("bytes of a body, over sockets", () => {
  it.each(["node", "gateway"] as const)(
    "forms-37, limits-6: a body has at most 1 MiB; more is a 413 (at the %s)",
    async (at) => {
      const role = network.roles.get(url[at]) as Role;
      const server = await listen((request) => role.handle(request), {
        host: "127.0.0.1",
        port: 0,
      });
      try {
        for (const [bytes, status, text] of [
          [1_048_576, 200, /^\{"serialized|^x/],
          [1_048_577, 413, /^The request's body is over the limit of 1048576 bytes$/],
        ] as const) {
          const answer = await postTo(
            `${server.url}/rpc/echo`,
            value(JSON.stringify("x".repeat(bytes - 12))),
          );
          expect(answer.status).toBe(status);
          expect(answer.text).toMatch(text);
        }
      } finally {
        await server.close(0);
      }
    },
  );
});

describe("limits of a configuration", () => {
  it("forms-43, limits-5: each limit is a number that the configuration can change, for the service that it configures", async () => {
    const small = {
      maxDepth: 3,
      maxValues: 10,
      maxObjects: 1,
      maxDigits: 2,
      maxQueryParameters: 2,
    };
    const strict = await start({ node: small });
    for (const at of ["node", "gateway"] as const) {
      expect(await outcomeOf(await post(nest(2), at, strict))).toBe("200");
      expect(await outcomeOf(await post(nest(3), at, strict))).toContain(
        "More than 3 levels of nesting (limit 'maxDepth')",
      );
      expect(await outcomeOf(await post(list(8, "1"), at, strict))).toBe("200");
      expect(await outcomeOf(await post(list(9, "1"), at, strict))).toContain(
        "More than 10 values (limit 'maxValues')",
      );
      expect(await outcomeOf(await post(list(1, date), at, strict))).toBe("200");
      expect(await outcomeOf(await post(list(2, date), at, strict))).toContain(
        "args.value[1]: more than 1 constructed objects (limit 'maxObjects')",
      );
      expect(await outcomeOf(await post(digits(2, "-"), at, strict))).toBe("200");
      expect(await outcomeOf(await post(digits(3), at, strict))).toContain(
        "more than 2 digits (limit 'maxDigits')",
      );
      const query = async (count: number): Promise<string> =>
        await outcomeOf(
          await ask(
            strict.roles.get(url[at]) as Role,
            "GET",
            `/rpc/echo?${"value=1&".repeat(count)}`,
            headers,
          ),
        );
      expect(await query(2)).toBe("200");
      expect(await query(3)).toContain("More than 2 query parameters (limit 'maxQueryParameters')");
      const posted = await ask(
        strict.roles.get(url[at]) as Role,
        "POST",
        "/rpc/echo?a=1&b=2&c=3",
        headers,
        '{"value":1}',
      );
      expect(await outcomeOf(posted)).toContain(
        "More than 2 query parameters (limit 'maxQueryParameters')",
      );
    }
    const application = applicationOf({
      "src/echo.ts": "export async function echo(value: unknown) { return value; }\n",
      "x.segment.json": '{ "./echo": { "echo": { "access": "public" } } }',
    });
    const { url: address } = await open(application, {
      mode: "standalone",
      url: anyPort,
      limits: { ...small, bodyBytes: 200 },
    });
    const send = async (text: string): Promise<string> => {
      const answer = await postTo(`${address}/rpc/echo`, text);
      return `${answer.status} ${answer.text}`;
    };
    expect(await send(nest(2))).toBe("200 [[]]");
    expect(await send(nest(3))).toContain("(limit 'maxDepth')");
    expect(await send(list(9, "1"))).toContain("(limit 'maxValues')");
    expect(await send(value(JSON.stringify("x".repeat(188))))).toMatch(/^200 x/);
    expect(await send(value(JSON.stringify("x".repeat(189))))).toContain(
      "413 The request's body is over the limit of 200 bytes",
    );
  });
  it("a gateway's own limits count only if its middleware looks at arguments (forms-43)", async () => {
    const strict = await start({ gateway: { maxDepth: 3 } });
    expect(await outcomeOf(await post(nest(3), "gateway", strict))).toBe("200");
    strict.roles.get(url.gateway)?.addMiddleware({
      handle: async (_fqn, _version, args, _headers, next) => {
        args.get("value");
        return await next();
      },
    });
    expect(await outcomeOf(await post(nest(3), "gateway", strict))).toContain("(limit 'maxDepth')");
    expect(await outcomeOf(await post(nest(3), "node", strict))).toBe("200");
  });
});

describe("what a procedure gives away", () => {
  const get = async (name: string): Promise<string> =>
    await outcomeOf(
      await ask(network.roles.get(url.gateway) as Role, "GET", `/rpc/made?name=${name}`, headers),
    );
  it("forms-46: services use the serialized encoding between each other", async () => {
    made["day"] = () => new Date(0);
    await ask(network.roles.get(url.gateway) as Role, "GET", "/rpc/relay?name=day");
    const sent = network.sent.findLast((request) => request.url.includes("/rpc/echo"));
    expect(sent?.headers["x-svc-data-encoding"]).toMatch(/^serialized\b/);
    expect(JSON.parse(sent?.body ?? "")).toEqual({
      value: mark("Date", { value: "1970-01-01T00:00:00.000Z" }),
    });
  });
  it("a result may be bigger than any argument", async () => {
    made["big"] = () => Array.from({ length: 20_000 }, () => new Date(0));
    expect(await get("big")).toBe("200");
  });
  it("a result that would become too large or too deep is a ValueNotSerializable, and the node keeps running", async () => {
    made["twice"] = () => {
      let value: unknown = new Date(0);
      for (let level = 0; level < 40; level++) value = [value, value];
      return value;
    };
    made["deep"] = () => {
      let value: unknown = 1;
      for (let level = 0; level < 100_000; level++) value = { a: value };
      return value;
    };
    expect(await get("twice")).toMatch(
      /^500 ValueNotSerializable: result.*: too many places refer to the same objects$/,
    );
    expect(await get("deep")).toMatch(
      /^500 ValueNotSerializable: result.*levels of nesting, or 4194304 objects$/,
    );
    expect(await get("day")).toBe("200");
  });
  it("an argument over the receiver's limits is refused by the receiver, and the caller gets the error", async () => {
    let deep: unknown = 1;
    for (let level = 0; level < 200; level++) deep = [deep];
    expect(
      encodeArguments(new Map([["value", deep]]), { classes: createWireClasses() }).text,
    ).toContain("[[");
    made["past"] = () => deep;
    expect(
      await outcomeOf(
        await ask(network.roles.get(url.gateway) as Role, "GET", "/rpc/relay?name=past", headers),
      ),
    ).toBe("400 BadRequest: More than 128 levels of nesting (limit 'maxDepth')");
  });
});
