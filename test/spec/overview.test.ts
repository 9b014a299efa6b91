// An application of two segments, built from its sources; each segment on a node of its own behind
// a gateway.

import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { ask } from "../_cluster.ts";
import { deploy, urls } from "../_deployment.ts";
import { createFixture } from "../build/_fixture.ts";
import { type BuiltDeployment, deployBuilt } from "./_built.ts";
import { kinds, layered, services } from "./_services.ts";

const files = {
  "src/shop/quote.ts": [
    'import { Cloth } from "../cloth/cloth.ts";',
    'import { NotFound } from "seamline";',
    'import type { Label } from "../rolls/label.ts";',
    'import { Roll } from "../rolls/roll.ts";',
    'import { discount } from "./discount.ts";',
    'import { echo, left, refuse } from "./stock.ts";',
    'import { loaded, metres } from "./units.ts";',
    "export async function quote(sku: string): Promise<string> {",
    "  return `${metres(await left(new Cloth(sku)))} at ${await discount()}`;",
    "}",
    "export async function unitsOfFront(): Promise<string> { return loaded; }",
    "export async function roundTrip(): Promise<string> {",
    "  const back = await echo(new Map([['roll', new Roll(3)]]));",
    "  return `${(back as Map<string, Roll>).get('roll') instanceof Roll}`;",
    "}",
    "export async function tries(): Promise<string> {",
    "  return await refuse().then(() => 'nothing', (error: unknown) => `${error instanceof NotFound} ${(error as Error).message}`);",
    "}",
  ].join("\n"),
  "src/shop/discount.ts": "export async function discount(): Promise<number> { return 5; }\n",
  "src/shop/units.ts":
    "export const loaded = `units ${Math.random()}`;\nexport const metres = (count: number): string => `${count} m`;\nexport async function unsegmented(): Promise<number> { return 1; }\n",
  "src/cloth/cloth.ts":
    "export class Cloth {\n  readonly sku: string;\n  readonly since: Date = new Date(0);\n  constructor(sku: string) { this.sku = sku; }\n}\n",
  // A server can't load this, and nothing there imports it by value.
  "src/rolls/label.ts":
    "const page = document.body;\nexport class Label {\n  readonly text: string;\n  constructor(text: string) { this.text = text; }\n}\nexport const size = page;\n",
  // Only modules of the front import it.
  "src/rolls/roll.ts":
    "export class Roll {\n  readonly metres: number;\n  constructor(metres: number) { this.metres = metres; }\n}\n",
  "src/shop/stock.ts": [
    'import { NotFound } from "seamline";',
    'import { Cloth } from "../cloth/cloth.ts";',
    'import { loaded } from "./units.ts";',
    "export async function left(cloth: Cloth): Promise<number> { return cloth instanceof Cloth && cloth.sku === 'W-1' ? 12 : 0; }",
    "export async function refuse(): Promise<never> { throw new NotFound('no roll'); }",
    "export async function unitsOfBack(): Promise<string> { return loaded; }",
    "export async function secret(): Promise<string> { return 'secret'; }",
    "export async function echo(value: unknown): Promise<unknown> { return value; }",
    "export async function nameOf(value: object): Promise<string> { return value.constructor.name; }",
  ].join("\n"),
  "front.segment.json": JSON.stringify({
    "./shop/quote": {
      quote: { access: "public" },
      tries: { access: "public" },
      unitsOfFront: { access: "public" },
      roundTrip: { access: "public" },
    },
    "./shop/discount": { discount: { access: "private" } },
  }),
  "back.segment.json": JSON.stringify({
    "./shop/stock": {
      left: { access: "public" },
      refuse: { access: "public" },
      unitsOfBack: { access: "public" },
      secret: { access: "private" },
      echo: { access: "public" },
      nameOf: { access: "public" },
    },
  }),
};

let built: BuiltDeployment;
beforeAll(async () => {
  built = await deployBuilt(files);
}, 60_000);
afterAll(() => built?.remove());

const get = (endpoint: { handle: Parameters<typeof ask>[0]["handle"] }, path: string) =>
  ask(endpoint, "GET", `/rpc/${path}`);

describe("procedures", () => {
  it("overview-1: the service runs functions of an application, and callers from outside reach them over HTTP", async () => {
    expect(await get(built.proxy, "shop/quote?sku=W-1")).toMatchObject({
      status: 200,
      text: "12 m at 5",
    });
  });

  it("overview-2: a procedure is addressed by its module's path and its name", async () => {
    expect((await get(built.gateway, "shop/unitsOfBack")).status).toBe(200);
    for (const other of [
      "unitsOfBack",
      "shop/stock/unitsOfBack",
      "cloth/unitsOfBack",
      "shop/UnitsOfBack",
    ])
      expect((await get(built.gateway, other)).status, other).toBe(404);
  });

  it("overview-21: a function that isn't async can't be given to a segment", async () => {
    const sync = createFixture({
      "src/a.ts": "export function a(): number {\n  return 1;\n}\n",
      "a.segment.json": '{ "./a": { "a": { "access": "public" } } }',
    });
    expect(await sync.problems()).toMatchObject([
      { file: "src/a.ts", line: 1, message: expect.stringContaining("async") },
    ]);
  });

  it("overview-24: only a public procedure can be called from outside", async () => {
    expect((await get(built.nodes["back"]!, "shop/refuse")).text).toMatch(/^no roll\n/);
    expect((await get(built.nodes["back"]!, "shop/secret")).status).toBe(404);
    expect((await get(built.proxy, "shop/secret")).status).toBe(404);
  });
});

describe("segments", () => {
  it("overview-3: an application is split into segments: groups of procedures that are placed on nodes", async () => {
    expect(built.nodes["front"]?.describe()).toMatchObject({ segments: ["front"], procedures: 5 });
    expect(built.nodes["back"]?.describe()).toMatchObject({ segments: ["back"], procedures: 6 });
  });

  it("overview-4: a segment file says which procedures its segment has", async () => {
    const { manifest } = await createFixture(files).build();
    const namesOf = (segment: string) =>
      manifest.segments[segment]
        ?.map(({ procedure }) => manifest.procedures[procedure]?.fqn)
        .toSorted();
    expect(namesOf("front")).toEqual([
      "shop/discount",
      "shop/quote",
      "shop/roundTrip",
      "shop/tries",
      "shop/unitsOfFront",
    ]);
    expect(namesOf("back")).toEqual([
      "shop/echo",
      "shop/left",
      "shop/nameOf",
      "shop/refuse",
      "shop/secret",
      "shop/unitsOfBack",
    ]);
  });

  it("overview-16: what no segment names, classes too, exists in every segment", async () => {
    const [front, back] = [
      await get(built.gateway, "shop/unitsOfFront"),
      await get(built.gateway, "shop/unitsOfBack"),
    ];
    expect([front.text, back.text]).toEqual([
      expect.stringMatching(/^units 0\./),
      expect.stringMatching(/^units 0\./),
    ]);
    // Each node has one of its own.
    expect(front.text).not.toBe(back.text);
    expect((await get(built.gateway, "shop/unsegmented")).status).toBe(404);
  });

  it("a node can receive, keep and send instances of a class that only another segment imports, nested and in both encodings (overview-16)", async () => {
    expect((await get(built.gateway, "shop/roundTrip")).text).toBe("true");
    const roll = { args: { 0: 3 }, fields: {} };
    for (const [encoding, body] of [
      ["serialized", { value: { serialized: true, key: "rolls/Roll", name: "class", ...roll } }],
      [
        "superjson",
        { json: { value: roll }, meta: { values: { value: [["class", "rolls/Roll"]] } } },
      ],
    ] as const) {
      const headers = { "content-type": "application/json", "x-svc-data-encoding": encoding };
      expect(
        (await ask(built.proxy, "POST", "/rpc/shop/nameOf", headers, JSON.stringify(body))).text,
      ).toContain("Roll");
    }
  });

  it("instances of a class whose module no server can load are refused and logged, and every node starts (overview-16)", async () => {
    const headers = { "content-type": "application/json", "x-svc-data-encoding": "serialized" };
    const label = {
      serialized: true,
      key: "rolls/Label",
      name: "class",
      args: { 0: "tweed" },
      fields: {},
    };
    const answer = await ask(
      built.gateway,
      "POST",
      "/rpc/shop/nameOf",
      headers,
      JSON.stringify({ value: label }),
    );
    expect(answer.status).toBe(400);
    expect(answer.text).toContain("there is no class 'rolls/Label'");
    expect(built.log.lines.join("\n")).toContain(
      "class 'rolls/Label' can't be loaded, so its instances are refused (document is not defined)",
    );
  });

  it("overview-18: any procedure may import what no segment names", async () => {
    expect((await get(built.gateway, "shop/quote?sku=W-1")).text).toBe("12 m at 5");
  });

  it("overview-19: an import of what runs on another node is a call to that node", async () => {
    const before = built.network.sent.length;
    await get(built.nodes["front"]!, "shop/quote?sku=W-1");
    expect(built.network.sent.slice(before).map(({ url }) => url)).toEqual([
      "http://gateway/rpc/shop/left?version=0.0.0",
      "http://back/rpc/shop/left?version=0.0.0",
    ]);
  });

  it("overview-20: a call within a segment stays where it is", async () => {
    const before = built.network.sent.length;
    expect((await get(built.nodes["front"]!, "shop/quote?sku=W-1")).text).toContain("at 5");
    expect(built.network.sent.slice(before).filter(({ url }) => url.includes("discount"))).toEqual(
      [],
    );
  });

  it("overview-22: data that travels between nodes keeps its types without further work", async () => {
    // On the other node, it is an instance of that node's class.
    expect((await get(built.proxy, "shop/quote?sku=W-1")).text).toMatch(/^12 m/);
    expect((await get(built.proxy, "shop/quote?sku=W-2")).text).toMatch(/^0 m/);
  });

  it("overview-23: an error of another node is thrown again on the calling node", async () => {
    expect((await get(built.proxy, "shop/tries")).text).toBe("true no roll");
  });
});

describe("roles", () => {
  it("overview-5: a node runs the procedures of the segments that it loads, and no others", async () => {
    expect((await get(built.nodes["back"]!, "shop/unitsOfBack")).status).toBe(200);
    expect((await get(built.nodes["front"]!, "shop/unitsOfBack")).status).toBe(404);
  });

  it("overview-6: a node registers at its gateway when it starts", async () => {
    const { network } = await deploy();
    const joined = network.sent.filter(
      ({ method, url }) => method === "POST" && url === `${urls.gateway}/nodes`,
    );
    expect(joined.map(({ body }) => (JSON.parse(body) as { url: string }).url)).toEqual([
      urls.a,
      urls.b,
    ]);
  });

  it("overview-7: a gateway knows all nodes and their procedures", async () => {
    const { members } = built.gateway.describe();
    expect(new Set(members as string[])).toEqual(new Set(["http://front", "http://back"]));
    for (const fqn of ["shop/left", "shop/unitsOfFront"])
      expect((await get(built.gateway, fqn)).status, fqn).not.toBe(404);
  });

  it("overview-8: a gateway finds the node that holds a procedure and passes the call on", async () => {
    expect(await get(built.gateway, "shop/unitsOfBack")).toMatchObject({
      status: 200,
      headers: { "x-svc-node": "back" },
    });
    expect(await get(built.gateway, "shop/unitsOfFront")).toMatchObject({
      status: 200,
      headers: { "x-svc-node": "front" },
    });
  });

  it("overview-9: a gateway distributes calls between the nodes that hold a procedure", async () => {
    const { gateway, network, node } = await deploy();
    const second = node(["b"], "second");
    network.roles.set("http://second", second);
    await second.start("http://second");
    const ran = [];
    for (let calls = 0; calls < 4; calls++)
      ran.push((await ask(gateway, "GET", "/rpc/shop/stock?sku=1")).headers["x-svc-node"]);
    expect(new Set([ran[0], ran[1]])).toEqual(new Set(["node b", "second"]));
    expect(ran.slice(2)).toEqual(ran.slice(0, 2));
  });

  it("overview-10: a gateway removes a node that goes down", async () => {
    const { gateway, network, node } = await deploy();
    const second = node(["b"], "second");
    network.roles.set("http://second", second);
    await second.start("http://second");
    network.roles.delete(urls.b);
    for (let calls = 0; calls < 4; calls++)
      expect((await ask(gateway, "GET", "/rpc/shop/stock?sku=1")).status).toBe(200);
    expect(network.sent.filter(({ url }) => url.startsWith(`${urls.b}/rpc`))).toHaveLength(0);
    // A node that seems down is still asked if there is no other one.
    network.roles.delete("http://second");
    for (let calls = 0; calls < 2; calls++)
      expect((await ask(gateway, "GET", "/rpc/shop/stock?sku=1")).status).toBe(503);
    expect((await ask(gateway, "GET", "/rpc/shop/refuse")).status).toBe(403);
  });

  it("overview-11: a gateway removes a node that says it is unhealthy", async () => {
    const { gateway, b, clock } = await deploy();
    b.addHealthCheck("disk", { isHealthy: async () => false });
    await clock.pass(5000);
    expect((await ask(gateway, "GET", "/rpc/shop/stock?sku=1")).status).toBe(503);
    expect((await ask(gateway, "GET", "/rpc/shop/refuse")).status).toBe(403);
  });

  it("overview-12: a repository serves the application's files", async () => {
    const { repository } = await services();
    expect(await ask(repository, "GET", "/a.txt")).toMatchObject({ status: 200, text: "a" });
  });

  it("overview-15: proxy and standalone take middleware, as node and gateway do", async () => {
    for (const kind of kinds) {
      const { call } = await layered(kind, {
        handle: async (_fqn, _version, _args, _headers, next) => `through ${String(await next())}`,
      });
      expect((await call()).text, kind).toBe("through a");
    }
  });
});
