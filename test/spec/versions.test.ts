// Versions from segment file to call, and how a gateway distributes calls.

import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { InvalidVersionNumber } from "../../src/base/errors.ts";
import { parseVersion } from "../../src/base/version.ts";
import { readVersion } from "../../src/base/version.ts";
import { ask, testModules, type TestProcedure } from "../_cluster.ts";
import { type Deployment, deploy } from "../_deployment.ts";
import { createFixture } from "../build/_fixture.ts";
import { type BuiltDeployment, deployBuilt } from "./_built.ts";
import { body, names } from "./_shop.ts";

const files = {
  "src/shop/price.ts": "export async function price(): Promise<string> { return 'default'; }\n",
  "src/shop/one.ts":
    "export async function price(metres: number): Promise<string> { return `one for ${metres}`; }\n",
  "src/shop/more.ts":
    "let count = 0;\nexport async function two(): Promise<string> { return `two ${++count}`; }\nexport async function ten(): Promise<string> { return `ten ${++count}`; }\n",
  "src/shop/later.ts": "export async function later(): Promise<string> { return 'later'; }\n",
  "shop.segment.json": JSON.stringify({
    "./shop/price": { price: { access: "public" } },
    "./shop/one": { price: { access: "public", version: "1" } },
    "./shop/more": {
      two: { access: "public", version: "2.1", as: "price" },
      ten: { access: "public", version: "10.0.3", as: "price" },
    },
    "./shop/later": { later: { access: "public", version: "1.2" } },
  }),
};
let built: BuiltDeployment;
beforeAll(async () => {
  built = await deployBuilt(files);
}, 60_000);
afterAll(() => built?.remove());
const get = (path: string) => ask(built.proxy, "GET", `/rpc/shop/${path}`);
const post = (path: string, args: object) =>
  ask(
    built.proxy,
    "POST",
    `/rpc/shop/${path}`,
    { "content-type": "application/json" },
    JSON.stringify(args),
  );
const problemsOf = async (version: unknown) =>
  await createFixture({
    ...files,
    "shop.segment.json": JSON.stringify({
      "./shop/price": { price: { access: "public", version } },
    }),
  }).problems();

describe("versions of procedures", () => {
  it("versions-1: a version is a string of one to three numbers with dots between them", () => {
    expect(["1", "1.2", "1.2.3"].map((text) => String(parseVersion(text)))).toEqual([
      "1.0.0",
      "1.2.0",
      "1.2.3",
    ]);
    for (const wrong of [
      "1.2.3.4",
      "v1",
      "1.",
      ".1",
      "1..2",
      "-1",
      "+1",
      "1e3",
      " 1",
      "1 ",
      "1.x",
      "\u0661",
      "latest",
    ])
      expect(() => parseVersion(wrong), wrong).toThrow(
        new InvalidVersionNumber(`Invalid version number '${wrong}'`),
      );
  });

  it("versions-2: a procedure without a version has 0.0.0", async () => {
    expect((await get("price?version=0.0.0")).text).toBe("default");
  });

  it("versions-3: a version takes any numbers, in any order", async () => {
    expect((await get("price?version=10.0.3")).text).toMatch(/^ten/);
    expect(String(parseVersion("999999999.0.123456789"))).toBe("999999999.0.123456789");
  });

  it("versions-4: a segment's entry sets the version", async () => {
    expect((await get("price?version=1&metres=2")).text).toBe("one for 2");
    expect((await get("later?version=1.2.0")).text).toBe("later");
  });

  it.each(["1.2.3.4", "v1", "one", "1.", "-1"])(
    "versions-5: an invalid version in a segment's entry is an error that says so: %s",
    async (version) => {
      expect(await problemsOf(version)).toMatchObject([
        {
          file: "shop.segment.json",
          path: expect.stringContaining("version"),
          message: expect.stringContaining("Invalid version number"),
        },
      ]);
    },
  );

  it("versions-6: versions of one procedure may be functions of the same name in several files", async () => {
    expect((await get("price")).text).toBe("default");
    expect((await get("price?version=1.0.0&metres=3")).text).toBe("one for 3");
  });

  it("versions-7: versions of one procedure may be several functions of one file, which `as` names", async () => {
    expect((await get("price?version=2.1")).text).toMatch(/^two/);
    expect((await get("price?version=10.0.3")).text).toMatch(/^ten/);
    expect((await get("two")).status).toBe(404);
  });

  it("versions-8: a caller selects a version by version in the query", async () => {
    expect((await get("price?metres=3&version=1")).text).toBe("one for 3");
  });

  it("versions-9: without a version in the query, the default version runs", async () => {
    expect((await get("price")).text).toBe("default");
    expect((await get("later")).status).toBe(404);
  });

  it("versions-17: a version behind the name in the path means the same as version in the query, by GET and by POST", async () => {
    for (const at of ["@", "%40"]) {
      expect((await get(`price${at}1?metres=3`)).text).toBe("one for 3");
      expect((await post(`price${at}1.0.0`, { metres: 4 })).text).toBe("one for 4");
      expect((await get(`price${at}0`)).text).toBe("default");
    }
    expect((await get("price@3")).text).toBe((await get("price?version=3")).text);
    expect((await get("price@3")).status).toBe(404);
    expect(await get("price@1.2.3.4")).toMatchObject({
      status: 400,
      text: "Invalid version number '1.2.3.4'",
    });
  });

  it("versions-18: a version in the path and one in the query are 400, even if they are the same", async () => {
    for (const path of ["price@1?version=1&metres=3", "price%401?version=", "price@1?version=2"])
      expect(await get(path)).toMatchObject({
        status: 400,
        text: "The version stands in the path and in the query: give it once",
      });
  });

  it("versions-19: behind an @ only digits and dots are a version; anything else is part of the name", async () => {
    for (const name of [
      "price@",
      "price@v1",
      "price@latest",
      "price@1@",
      "price@1-rc",
      "@",
      "@1/price",
    ])
      expect(await get(name)).toMatchObject({
        status: 404,
        text: `Procedure 'shop/${name}' v0.0.0 not found`,
      });
    expect((await get("price@1@2?metres=3")).text).toBe(
      "Procedure 'shop/price@1' v2.0.0 not found",
    );
    expect((await get("price%25401")).text).toBe("Procedure 'shop/price%401' v0.0.0 not found");
    expect(await get("@1")).toMatchObject({ status: 404 });
    expect(await ask(built.proxy, "GET", "/rpc/@1")).toMatchObject({
      status: 404,
      text: "The path names no procedure",
    });
  });

  it("versions-20: a directory, a file or an `as` whose name ends like a version is a build error that names the file", async () => {
    const entry = { access: "public" };
    const problemsIn = async (module: string, entries: object, source: string) =>
      await createFixture({
        [`src/${module}.ts`]: source,
        "shop.segment.json": JSON.stringify({ [`./${module}`]: entries }),
      }).problems();
    const named = "export async function price(): Promise<number> { return 1; }\n";
    const unnamed = "export default async () => 1;\n";
    for (const [module, entries, source, message, hint] of [
      [
        "shop@1.2/price",
        { price: entry },
        named,
        'the name "shop@1.2/price" has "shop@1.2" in it, and in calls "@1.2" stands for a version',
        'Rename the directory "shop@1.2".',
      ],
      [
        "shop/price@3",
        { default: entry },
        unnamed,
        'the name "shop/price@3" has "price@3" in it, and in calls "@3" stands for a version',
        'Name the procedure otherwise with "as", and its version with "version".',
      ],
    ] as const)
      expect(await problemsIn(module, entries, source)).toMatchObject([
        { file: "shop.segment.json", message, hint },
      ]);
    expect(
      await problemsIn("shop/price", { price: { ...entry, as: "price@2" } }, named),
    ).toMatchObject([
      {
        file: "shop.segment.json",
        message: 'expected a procedure name, without slashes and blanks, found "price@2"',
      },
    ]);
    await expect(problemsIn("@shop/v@x/price@3", { price: entry }, named)).rejects.toThrow(
      "the build went well",
    );
  });

  it("versions-10: versions run independently: each with its own parameters", async () => {
    expect((await get("price?metres=3")).text).toBe("Unknown parameter 'metres'");
    expect((await get("price?version=1")).text).toBe("Missing value for parameter 'metres'");
    const counts = [await get("price?version=2.1"), await get("price?version=10.0.3")].map(
      ({ text }) => Number(text.split(" ")[1]),
    );
    // Functions of one file share its module state, as their code says.
    expect(counts[1]).toBe(counts[0]! + 1);
  });
});

describe("the version of a call", () => {
  it("calls-8: the version is in the query, for POST as for GET", async () => {
    expect((await post("price?version=1", { metres: 4 })).text).toBe("one for 4");
    expect((await post("price", { version: "1", metres: 4 })).text).toBe(
      "Unknown parameters 'version', 'metres'",
    );
  });

  it("calls-9: an empty version is the default", async () => {
    expect((await get("price?version=")).text).toBe("default");
    expect((await get("price?version")).text).toBe("default");
  });

  it("calls-10: numbers that a version leaves out are 0", async () => {
    for (const version of ["1", "1.0", "1.0.0", "01"])
      expect((await get(`price?version=${version}&metres=1`)).text).toBe("one for 1");
    expect(String(readVersion("a=1&version=1%2E2.3"))).toBe("1.2.3");
  });

  it.each(["1.2.3.4", "v1", "-1", "1.", " 1", "1e3", "__proto__", "latest", "1234567890"])(
    "calls-11: an invalid version is 400 InvalidVersionNumber and quoted: %j",
    async (text) => {
      expect(await get(`price?version=${encodeURIComponent(text)}`)).toMatchObject({
        status: 400,
        headers: { "x-svc-error": "InvalidVersionNumber" },
        text: `Invalid version number '${text}'`,
      });
    },
  );

  it("calls-12: a version that isn't registered is 404 ProcedureNotFound, and the message lists those that are", async () => {
    expect(await get("price?version=3")).toMatchObject({
      status: 404,
      headers: { "x-svc-error": "ProcedureNotFound" },
      text: "Procedure 'shop/price' v3.0.0 not found; there is v0.0.0, v1.0.0, v2.1.0, v10.0.3",
    });
  });

  it("calls-13: no other version runs in place of one that isn't registered", async () => {
    for (const version of ["0.0.1", "1.0.1", "1.1", "2", "2.1.1", "10", "11"])
      expect((await get(`price?version=${version}`)).status, version).toBe(404);
  });
});

/** Segments of three nodes; `shared` is in two of them. */
const shared: TestProcedure[] = [
  {
    fqn: "team/shared",
    in: { one: "public", two: "public" },
    body: body("team/shared", () => "shared"),
  },
  {
    fqn: "team/versions",
    version: "1.0.0",
    in: { one: "public" },
    body: body("team/versions", () => "first", "1.0.0"),
  },
  {
    fqn: "team/half",
    parameters: names("a"),
    in: { one: "public", two: "private" },
    body: body("team/half", () => "half"),
  },
  { fqn: "team/alone", in: { two: "public" }, body: body("team/alone", () => "alone") },
];

describe("load balancing", () => {
  let cluster: Deployment;
  const start = async (name: string, ...segments: string[]) =>
    await cluster.local.node(name, { modules: testModules(shared), segments });
  const nodesFor = async (path: string, count: number) => {
    const nodes: unknown[] = [];
    for (let calls = 0; calls < count; calls++)
      nodes.push((await ask(cluster.gateway, "GET", `/rpc/team/${path}`)).headers["x-svc-node"]);
    return nodes;
  };
  const fresh = async () => {
    cluster = await deploy();
  };

  it("versions-11: the gateway knows no versions: calls are distributed by name", async () => {
    await fresh();
    await start("one", "one");
    const sent = cluster.network.sent.find(
      ({ url, body: text }) => url.endsWith("/nodes") && text.includes("team/"),
    );
    expect(JSON.parse(sent?.body ?? "{}")).toMatchObject({
      procedures: ["team/shared", "team/versions", "team/half"],
    });
    // The node that gets the call knows the versions.
    expect(await ask(cluster.gateway, "GET", "/rpc/team/versions?version=2")).toMatchObject({
      status: 404,
      text: "Procedure 'team/versions' v2.0.0 not found; there is v1.0.0",
    });
  });

  it("versions-12: calls go round robin over all nodes that registered the procedure", async () => {
    await fresh();
    for (const name of ["n1", "n2", "n3"]) await start(name, "one");
    expect(await nodesFor("shared", 7)).toEqual(["n1", "n2", "n3", "n1", "n2", "n3", "n1"]);
  });

  it("versions-13: nodes that hold a procedure in several segments take part, each once", async () => {
    await fresh();
    await start("n1", "one");
    await start("both", "one", "two");
    await start("n2", "two");
    expect(await nodesFor("shared", 6)).toEqual(["n1", "both", "n2", "n1", "both", "n2"]);
  });

  it("versions-14: a node that goes down is removed from the rotation automatically", async () => {
    await fresh();
    for (const name of ["n1", "n2"]) await start(name, "one");
    cluster.network.roles.delete("http://n1");
    expect(await nodesFor("shared", 4)).toEqual(["n2", "n2", "n2", "n2"]);
  });

  it("versions-15: nodes join and leave without failing a call", async () => {
    await fresh();
    const first = await start("n1", "one");
    expect(await nodesFor("shared", 2)).toEqual(["n1", "n1"]);
    await start("n2", "one");
    expect(new Set(await nodesFor("shared", 2))).toEqual(new Set(["n1", "n2"]));
    const stopping = first.stop();
    expect(new Set(await nodesFor("shared", 2))).toEqual(new Set(["n2"]));
    await cluster.clock.pass(10_000);
    await stopping;
    expect(await nodesFor("shared", 2)).toEqual(["n2", "n2"]);
  });

  it("versions-16: a procedure that is private in a segment is not balanced to nodes that hold that segment only", async () => {
    await fresh();
    await start("n1", "one");
    await start("n2", "two");
    expect(await nodesFor("half?a=1", 3)).toEqual(["n1", "n1", "n1"]);
    expect(await nodesFor("alone", 1)).toEqual(["n2"]);
  });
});
