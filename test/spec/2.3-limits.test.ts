import { beforeAll, describe, expect, it } from "vitest";

import { listen } from "../../server/http.ts";
import type { IncomingResponse } from "../../src/ports.ts";
import { createGateway } from "../../src/roles/gateway.ts";
import { createNode } from "../../src/roles/node.ts";
import type { Role } from "../../src/roles/role.ts";
import { defaultLimits, type Limits } from "../../src/serializer/limits.ts";
import { encodeArguments } from "../../src/serializer/serialized.ts";
import { ask, TestClock, testHost, TestLog, testModules, TestNetwork } from "../_cluster.ts";
import { postTo } from "../_sockets.ts";
import { createWireClasses } from "../_wire-classes.ts";
import { body, call, names } from "./_shop.ts";
import { anyPort, applicationOf, start as open } from "./_started.ts";

const mark = (name: string, rest: object = {}): object => ({ serialized: true, name, ...rest });
const url = { gateway: "http://gateway", node: "http://node", relay: "http://relay" } as const;
const key = "the-trust-key-of-the-limits";
const made: Record<string, () => unknown> = {};

/** Gateway and two nodes; what isn't said is the default. */
async function start(
  limits: Partial<Record<keyof typeof url, Partial<Limits>>> = {},
): Promise<TestNetwork> {
  const network = new TestNetwork();
  const host = () => testHost(network, new TestClock(), new TestLog());
  const of = (name: keyof typeof url): Limits => ({ ...defaultLimits, ...limits[name] });
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
  const add = async (name: keyof typeof url, role: Role): Promise<void> => {
    network.roles.set(url[name], role);
    await role.start(url[name]);
  };
  let ids = 0;
  await add(
    "gateway",
    createGateway(host(), {
      trustKey: key,
      limits: of("gateway"),
      monitor: 60_000,
      lease: 60_000,
      newId: () => `${++ids}`,
      modules: undefined,
    }),
  );
  for (const [name, segment] of [
    ["node", "one"],
    ["relay", "two"],
  ] as const)
    await add(
      name,
      createNode(host(), {
        trustKey: key,
        limits: of(name),
        gateway: url.gateway,
        modules: testModules(procedures),
        segments: [segment],
        name,
      }),
    );
  return network;
}

const headers = { "content-type": "application/json", "x-svc-data-encoding": "serialized" };
let network: TestNetwork;
beforeAll(async () => {
  network = await start();
});

type Door = keyof typeof url;
const post = async (
  text: string,
  at: Door,
  on = network,
): Promise<IncomingResponse & { text: string }> =>
  await ask(on.roles.get(url[at]) as Role, "POST", "/rpc/echo", headers, text);
/** `200`, or the status with the error's name and message. */
async function told(answer: IncomingResponse & { text: string }): Promise<string> {
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
  "D3, D6 limits, at the limit and one past it, asked at the %s:",
  (at) => {
    it("D3-32 D6.limits-3 data has at most 128 levels; more is a 400 that names the limit, told before anything is parsed", async () => {
      expect(await told(await post(nest(127), at))).toBe("200");
      expect(await told(await post(nest(128), at))).toBe(
        "400 BadRequest: More than 128 levels of nesting (limit 'depth')",
      );
      expect(await told(await post("[".repeat(1_000_000), at))).toContain("(limit 'depth')");
      // Brackets in text are text.
      expect(await told(await post(value(JSON.stringify("[{".repeat(1000))), at))).toBe("200");
    });
    it("D3-33 D6.limits-4 data has at most 100,000 values; more is a 400 that names the limit", async () => {
      // The body and the list are two of them.
      expect(await told(await post(list(99_998, "1"), at))).toBe("200");
      expect(await told(await post(list(99_999, "1"), at))).toBe(
        "400 BadRequest: More than 100000 values (limit 'values')",
      );
      expect(await told(await post(list(99_998, "[]"), at))).toBe("200");
      expect(await told(await post(list(99_999, "{}"), at))).toContain("(limit 'values')");
    });
    it("D3-34 D6.limits-6 data has at most 10,000 constructed objects; more is a 400 that names the limit and where it was passed", async () => {
      expect(await told(await post(list(10_000, date), at))).toBe("200");
      expect(await told(await post(list(10_001, date), at))).toBe(
        "400 InvalidSerializedValue: args.value[10000]: more than 10000 constructed objects (limit 'objects')",
      );
    });
    it("D3-35 D6.limits-5 a bigint has at most 10,000 digits; more is a 400 that names the limit", async () => {
      for (const sign of ["", "-"]) {
        expect(await told(await post(digits(10_000, sign), at))).toBe("200");
        expect(await told(await post(digits(10_001, sign), at))).toBe(
          "400 InvalidSerializedValue: args.value: more than 10000 digits (limit 'digits')",
        );
      }
    });
    it("D3-36 D6.limits-7 a query has at most 100 parameters; more is a 400 that names the limit", async () => {
      const get = async (count: number): Promise<string> =>
        await told(
          await ask(
            network.roles.get(url[at]) as Role,
            "GET",
            `/rpc/echo?${"value=1&".repeat(count)}`,
            headers,
          ),
        );
      expect(await get(100)).toBe("200");
      expect(await get(101)).toMatch(/^400 BadRequest: .*100.*\(limit 'query'\)/);
      // The version is none of them. In the query of a POST nobody reads the others, and they count.
      const ask101 = async (count: number, content: string): Promise<string> =>
        await told(
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
          "400 BadRequest: More than 100 query parameters (limit 'query')",
        );
      }
    });
  },
);

describe("D3, D6 bytes of a body, over sockets", () => {
  it.each(["node", "gateway"] as const)(
    "D3-31 D6.limits-2 a body has at most 1 MiB; more is a 413 (at the %s)",
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

describe("D3, D6 limits of a configuration", () => {
  it("D3-37 D6.limits-1 each limit is a number that the configuration can change, for the service that it configures", async () => {
    const small = { depth: 3, values: 10, objects: 1, digits: 2, query: 2 };
    const own = await start({ node: small });
    for (const at of ["node", "gateway"] as const) {
      expect(await told(await post(nest(2), at, own))).toBe("200");
      expect(await told(await post(nest(3), at, own))).toContain(
        "More than 3 levels of nesting (limit 'depth')",
      );
      expect(await told(await post(list(8, "1"), at, own))).toBe("200");
      expect(await told(await post(list(9, "1"), at, own))).toContain(
        "More than 10 values (limit 'values')",
      );
      expect(await told(await post(list(1, date), at, own))).toBe("200");
      expect(await told(await post(list(2, date), at, own))).toContain(
        "args.value[1]: more than 1 constructed objects (limit 'objects')",
      );
      expect(await told(await post(digits(2, "-"), at, own))).toBe("200");
      expect(await told(await post(digits(3), at, own))).toContain(
        "more than 2 digits (limit 'digits')",
      );
      const query = async (count: number): Promise<string> =>
        await told(
          await ask(
            own.roles.get(url[at]) as Role,
            "GET",
            `/rpc/echo?${"value=1&".repeat(count)}`,
            headers,
          ),
        );
      expect(await query(2)).toBe("200");
      expect(await query(3)).toContain("More than 2 query parameters (limit 'query')");
      const posted = await ask(
        own.roles.get(url[at]) as Role,
        "POST",
        "/rpc/echo?a=1&b=2&c=3",
        headers,
        '{"value":1}',
      );
      expect(await told(posted)).toContain("More than 2 query parameters (limit 'query')");
    }
    const application = applicationOf({
      "src/echo.ts": "export async function echo(value) { return value; }\n",
      "x.segment.json": '{ "./echo": { "echo": { "access": "public" } } }',
    });
    const { url: address } = await open(application, {
      mode: "standalone",
      url: anyPort,
      limits: { ...small, body: 200 },
    });
    const send = async (text: string): Promise<string> => {
      const answer = await postTo(`${address}/rpc/echo`, text);
      return `${answer.status} ${answer.text}`;
    };
    expect(await send(nest(2))).toBe("200 [[]]");
    expect(await send(nest(3))).toContain("(limit 'depth')");
    expect(await send(list(9, "1"))).toContain("(limit 'values')");
    expect(await send(value(JSON.stringify("x".repeat(188))))).toMatch(/^200 x/);
    expect(await send(value(JSON.stringify("x".repeat(189))))).toContain(
      "413 The request's body is over the limit of 200 bytes",
    );
  });
  it("the gateway's own count only where middleware there looks at arguments (D3-37)", async () => {
    const own = await start({ gateway: { depth: 3 } });
    expect(await told(await post(nest(3), "gateway", own))).toBe("200");
    own.roles.get(url.gateway)?.addMiddleware({
      handle: async (_fqn, _version, args, _headers, next) => {
        args.get("value");
        return await next();
      },
    });
    expect(await told(await post(nest(3), "gateway", own))).toContain("(limit 'depth')");
    expect(await told(await post(nest(3), "node", own))).toBe("200");
  });
});

describe("D3 what a procedure gives away", () => {
  const get = async (name: string): Promise<string> =>
    await told(
      await ask(network.roles.get(url.gateway) as Role, "GET", `/rpc/made?name=${name}`, headers),
    );
  it("D3-40 services call each other in the serialized encoding", async () => {
    made["day"] = () => new Date(0);
    await ask(network.roles.get(url.gateway) as Role, "GET", "/rpc/relay?name=day");
    const sent = network.sent.findLast((one) => one.url.includes("/rpc/echo"));
    expect(sent?.headers["x-svc-data-encoding"]).toMatch(/^serialized\b/);
    expect(JSON.parse(sent?.body ?? "")).toEqual({
      value: mark("Date", { value: "1970-01-01T00:00:00.000Z" }),
    });
  });
  it("a result may be bigger than any argument", async () => {
    made["big"] = () => Array.from({ length: 20_000 }, () => new Date(0));
    expect(await get("big")).toBe("200");
  });
  it("one that would become too much or too deep is a ValueNotSerializable, and the node goes on", async () => {
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
      /^500 ValueNotSerializable: result.*: the same few in many places would be too many objects$/,
    );
    expect(await get("deep")).toMatch(
      /^500 ValueNotSerializable: result.*levels of nesting, or 4194304 objects$/,
    );
    expect(await get("day")).toBe("200");
  });
  it("an argument over the receiver's limits is refused by the receiver, and the caller is told", async () => {
    let deep: unknown = 1;
    for (let level = 0; level < 200; level++) deep = [deep];
    expect(encodeArguments(new Map([["value", deep]]), { classes: createWireClasses() })).toContain(
      "[[",
    );
    made["past"] = () => deep;
    expect(
      await told(
        await ask(network.roles.get(url.gateway) as Role, "GET", "/rpc/relay?name=past", headers),
      ),
    ).toBe("400 BadRequest: More than 128 levels of nesting (limit 'depth')");
  });
});
