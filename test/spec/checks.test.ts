// Checks: arguments of callers from outside, compared with the types of parameters where the procedure runs.

import { beforeEach, describe, expect, it } from "vitest";

import { Unauthorized } from "../../src/base/errors.ts";
import type { SegmentEntry } from "../../src/base/manifest.ts";
import type { Middleware } from "../../src/http/middleware.ts";
import type { ServerModules } from "../../src/roles/application/application.ts";
import { ask, fromField, key, TestDeployment, testModules } from "../_cluster.ts";
import { entrances, guardedSite } from "../_guards.ts";
import { typedModules, type TypedProcedure, typesModule, withTypes } from "../_typed.ts";
import { body, call, names } from "./_shop.ts";

const json = { "content-type": "application/json" };
const serialized = { ...json, "x-svc-data-encoding": "serialized" };

/** The procedures that ran, with their arguments. */
let ran: unknown[][] = [];
beforeEach(() => {
  ran = [];
});

const notes = (name: string): TypedProcedure["body"] =>
  body(name, (_, _graph, ...args: unknown[]) => {
    ran.push(args);
    return "ran";
  });

const order = (
  entry: SegmentEntry["access"] | Omit<SegmentEntry, "procedure"> = "public",
  fqn = "shop/order",
): TypedProcedure => ({
  fqn,
  signature: "(lines: Line[], due: Date, admin = false)",
  in: { a: entry },
  body: notes(fqn),
});

const declarations = `
export interface Line { sku: string; metres: number }
`;

const asks: TypedProcedure = {
  fqn: "shop/asks",
  signature: "()",
  in: { a: "public" },
  body: body("shop/asks", (_, graph) =>
    call(graph, "shop/order", names("lines", "due", "admin"), [{ metres: "12" }], "soon", "yes"),
  ),
};

const application = typedModules([order(), asks], { declarations });

const attack = {
  lines: [{ metres: "12", isAdmin: true }],
  due: "2026-01-01",
  admin: "yes",
};

const refused = `lines[0].sku: missing
lines[0].metres: expected number, got text
admin: expected boolean, got text`;

const right = { lines: [{ sku: "a", metres: 12, isAdmin: true }], due: "2026-01-01" };

const post = async (
  role: Parameters<typeof ask>[0],
  args: unknown,
  { fqn = "shop/order", headers = json }: { fqn?: string; headers?: Record<string, string> } = {},
) => await ask(role, "POST", `/rpc/${fqn}`, headers, JSON.stringify(args));

describe("a call from outside", () => {
  it.each(entrances)(
    "checks-1: arguments that haven't the types of their parameters are refused with 400 and the place of each fault, before the procedure runs (at the %s)",
    async (entrance) => {
      const { [entrance]: role } = await guardedSite(application);
      const answer = await post(role, attack);
      expect(answer).toMatchObject({ status: 400, text: refused });
      expect(answer.headers["x-svc-error"]).toBe("InvalidParameterValue");
      expect(ran).toEqual([]);
      expect((await post(role, right)).status).toBe(200);
      expect(ran).toEqual([[[{ sku: "a", metres: 12 }], new Date("2026-01-01"), undefined]]);
    },
  );

  it("checks-2: a call is checked in each encoding, and from holders of the trust key", async () => {
    const { standalone } = await guardedSite(application);
    for (const headers of [
      serialized,
      { ...json, "x-svc-trust-key": key },
      { ...json, [fromField]: "trusted" },
      { ...json, [fromField]: "key" },
    ])
      expect(await post(standalone, attack, { headers })).toMatchObject({ status: 400 });
    const superjson = { ...json, "x-svc-data-encoding": "superjson" };
    expect(await post(standalone, { json: attack }, { headers: superjson })).toMatchObject({
      status: 400,
      text: expect.stringContaining(
        "metres: expected number, got text\\ndue: expected a Date, got text\\nadmin:",
      ),
    });
    expect(ran).toEqual([]);
  });

  it("checks-3: missing parameters are refused first, then unknown ones, then types", async () => {
    const { standalone } = await guardedSite(application);
    const text = async (args: unknown) => (await post(standalone, args)).text;
    expect(await text({ lines: 1, more: 1 })).toBe("Missing value for parameter 'due'");
    expect(await text({ lines: 1, due: 1, more: 1 })).toBe("Unknown parameter 'more'");
    expect(await text({ lines: 1, due: 1 })).toBe(
      "lines: expected a list, got number\ndue: expected a date (ISO 8601), got number",
    );
  });

  it("checks-4: a call that a procedure makes isn't checked, nor one that comes from a service for a procedure", async () => {
    const { standalone, node } = await guardedSite(application);
    for (const role of [standalone, node]) {
      expect((await post(role, {}, { fqn: "shop/asks" })).status).toBe(200);
      expect(
        (await post(role, attack, { headers: { ...json, [fromField]: "service" } })).status,
      ).toBe(200);
    }
    expect(ran).toHaveLength(4);
    expect(ran.map(([, due]) => due)).toEqual(["soon", "2026-01-01", "soon", "2026-01-01"]);
  });

  it("checks-16: a call that a procedure of another build makes is checked, as its types may have changed", async () => {
    const local = new TestDeployment();
    const gateway = await local.gateway();
    const start = async (name: string, procedures: readonly TypedProcedure[], revision: string) => {
      const modules = typedModules(procedures, { declarations })();
      const manifest = async () => ({ ...(await modules.manifest()), revision });
      return await local.node(name, { modules: { ...modules, manifest }, segments: ["a"] });
    };
    await start("order", [order()], "new");
    const caller = await start("asks", [asks], "new");
    const answer = async () => await post(gateway, {}, { fqn: "shop/asks" });
    expect((await answer()).status).toBe(200);
    const leaving = caller.leave();
    await local.clock.pass(1_000);
    await leaving;
    await start("asks2", [asks], "old");
    // Not the fault of its own caller.
    expect(await answer()).toMatchObject({
      status: 500,
      text: expect.stringContaining("lines[0].sku: missing"),
    });
    expect(ran).toHaveLength(1);
    const marked = local.network.sent.filter(({ headers }) => "x-svc-other-build" in headers);
    expect(marked.map(({ url, headers }) => [url, headers["x-svc-other-build"]])).toEqual([
      ["http://order/rpc/shop/order?version=0.0.0", "yes"],
    ]);
  });

  it('checks-5: "validate": false in the entry turns the checks of a procedure off', async () => {
    const modules = typedModules([order({ access: "public", validate: false })], { declarations });
    const { standalone } = await guardedSite(modules);
    expect((await post(standalone, attack)).status).toBe(200);
    expect(ran).toEqual([[attack.lines, "2026-01-01", "yes"]]);
  });

  it('checks-6: members that no type names don\'t arrive; with "extra" they are kept, or refused', async () => {
    const answers: unknown[] = [];
    for (const extra of ["drop", "keep", "refuse"] as const) {
      const entry = { access: "public" as const, ...(extra !== "drop" && { extra }) };
      const { standalone } = await guardedSite(typedModules([order(entry)], { declarations }));
      const { status, text } = await post(standalone, right);
      answers.push([status, text]);
    }
    expect(answers).toEqual([
      [200, "ran"],
      [200, "ran"],
      [400, "lines[0].isAdmin: unknown"],
    ]);
    expect(ran.map(([lines]) => lines)).toEqual([[{ sku: "a", metres: 12 }], right.lines]);
  });

  it("checks-7: masked errors show no value, and no more than its kind and length", async () => {
    const modules = typedModules([
      {
        fqn: "shop/paint",
        signature:
          '(colour: "red" | "green", note: string & import("seamline/types").MaxLength<3>)',
        in: { a: "public" },
        body: notes("shop/paint"),
      },
    ]);
    const secret = "geheim".repeat(20);
    for (const [errors, shown] of [
      [undefined, `"${secret.slice(0, 40)}"… (120 characters)`],
      ["masked", "text of 120 characters"],
    ] as const) {
      const { standalone, proxy, local } = await guardedSite(modules, errors && { errors });
      for (const role of [standalone, proxy]) {
        const { status, text } = await post(
          role,
          { colour: secret, note: secret },
          { fqn: "shop/paint" },
        );
        expect([status, text]).toEqual([
          400,
          `colour: expected "green" or "red", got ${shown}\nnote: expected at most 3 characters, got ${shown}`,
        ]);
      }
      expect(local.log.lines.join("\n")).not.toContain("geheim");
    }
  });

  it("checks-8: overloads, rest and destructured parameters are checked by position, and what is left out stays out", async () => {
    const procedure = (fqn: string, signature: string | string[]): TypedProcedure => ({
      fqn,
      signature,
      in: { a: "public" },
      body: notes(fqn),
    });
    const { standalone } = await guardedSite(
      typedModules(
        [
          procedure("shop/over", [
            "(value: number): Promise<void>",
            "(value: string, unit: string): Promise<void>",
            "(value: any, unit?: any)",
          ]),
          procedure("shop/rest", "(first: string, ...rest: number[])"),
          procedure(
            "shop/pattern",
            "({ sku, metres = 1 }: Partial<Line> = {}, [x, , y]: [number, 1, Date?])",
          ),
        ],
        { declarations },
      ),
    );
    const of = async (fqn: string, args: unknown) => {
      const { status, text } = await post(standalone, args, { fqn });
      return status === 200 ? ran.pop() : text;
    };
    expect(await of("shop/over", { value: 1 })).toEqual([1, undefined]);
    expect(await of("shop/over", { value: "1", unit: "m" })).toEqual(["1", "m"]);
    expect(await of("shop/over", { value: 1, unit: "m" })).toBe(
      "unit: expected undefined, got text",
    );
    expect(await of("shop/rest", { first: "a" })).toEqual(["a"]);
    expect(await of("shop/rest", { first: "a", "...rest": [1, 2] })).toEqual(["a", 1, 2]);
    expect(await of("shop/rest", { first: "a", "...rest": [1, "2"] })).toBe(
      "...rest[1]: expected number, got text",
    );
    expect(await of("shop/pattern", { x: 1, y: "2026-01-01" })).toEqual([
      undefined,
      [1, null, new Date("2026-01-01")],
    ]);
    expect(await of("shop/pattern", { sku: 1, x: "1" })).toBe(
      "sku: expected text, got number\nx: expected number, got text",
    );
  });
});

describe("in development", () => {
  it("checks-22: in development an answer says which members of the arguments didn't arrive, through gateway and proxy; elsewhere it doesn't", async () => {
    const odd = { sku: "a", metres: 1, [`${"x".repeat(300)}😀${"😀".repeat(100)}`]: 1 };
    const call = { lines: [...right.lines, odd], due: "2026-01-01" };
    for (const development of [true, false]) {
      const local = new TestDeployment();
      await local.gateway();
      const proxy = await local.proxy();
      const modules = { ...application(), ...(development && { onRun: () => {} }) };
      await local.node("a", { modules, segments: ["a"] });
      const { status, headers } = await post(proxy, call);
      expect(status).toBe(200);
      const field = headers["x-svc-dropped"] as string | undefined;
      expect(field && decodeURIComponent(field)).toEqual(
        development
          ? expect.stringMatching(
              /^shop\/order doesn't get lines\[0\]\.isAdmin, lines\[1\].*: no type names it$/,
            )
          : undefined,
      );
    }
  });
});

describe("middleware and guards", () => {
  it("checks-9: middleware sees the values of the message; what it sets is checked, and passes if it has its type already", async () => {
    const seen: unknown[] = [];
    let sets: unknown = new Date(0);
    const middleware: Middleware = {
      async handle(_fqn, _version, args, _headers, next) {
        seen.push(args.get("due"), args.get("lines"));
        if (sets !== undefined) args.set("due", sets);
        return await next();
      },
    };
    const { standalone } = await guardedSite(application);
    standalone.addMiddleware(middleware);
    expect((await post(standalone, right)).status).toBe(200);
    expect(seen).toEqual(["2026-01-01", right.lines]);
    expect(ran.pop()).toEqual([[{ sku: "a", metres: 12 }], new Date(0), undefined]);
    sets = 12;
    expect(await post(standalone, right)).toMatchObject({
      status: 400,
      text: "due: expected a date (ISO 8601), got number",
    });
    // It may set what no message could: an object that contains itself.
    const cycle: unknown[] = [];
    cycle.push(cycle);
    sets = cycle;
    expect(await post(standalone, right)).toMatchObject({ status: 400 });
    expect(ran).toEqual([]);
  });

  it("checks-10: a guard runs before the checks: who doesn't pass learns nothing of types", async () => {
    const modules = (): ServerModules => {
      const typed = typedModules([order({ access: "public", guard: "auth#signedIn" })], {
        declarations,
      })();
      const signedIn = (): never => {
        throw new Unauthorized("Sign in first");
      };
      return {
        manifest: async () => {
          const manifest = await typed.manifest();
          return { ...manifest, modules: { ...manifest.modules, auth: { file: "auth.js" } } };
        },
        import: async (file) => (file === "auth.js" ? { signedIn } : await typed.import(file)),
      };
    };
    const { standalone, proxy } = await guardedSite(modules);
    for (const role of [standalone, proxy])
      expect(await post(role, attack)).toMatchObject({ status: 401, text: "Sign in first" });
  });
});

describe("queries and forms", () => {
  const modules = typedModules(
    [
      {
        fqn: "shop/find",
        signature:
          "(id: number, tags: Set<string> = new Set(), until?: Date, big?: bigint, level?: 1 | 2 | 'x', any?: string | number)",
        in: { a: { access: "public", safe: true } },
        body: notes("shop/find"),
      },
      {
        fqn: "shop/add",
        signature: "(id: number, files: File[], note?: string)",
        in: { a: "public" },
        body: notes("shop/add"),
      },
    ],
    { declarations },
  );

  it("checks-11: the text of a query is read by type, also where middleware sees it, and what doesn't convert is refused with its path", async () => {
    const { standalone, proxy } = await guardedSite(modules);
    const seen: unknown[] = [];
    standalone.addMiddleware({
      async handle(_fqn, _version, args, _headers, next) {
        seen.push(args.get("id"));
        return await next();
      },
    });
    for (const role of [standalone, proxy]) {
      const get = async (query: string) => {
        const { status, text } = await ask(role, "GET", `/rpc/shop/find?${query}`);
        return status === 200 ? ran.pop() : text;
      };
      expect(await get("id=12&tags=a&tags=b&until=2026-01-01&big=12&level=2&any=12")).toEqual([
        12,
        new Set(["a", "b"]),
        new Date("2026-01-01"),
        12n,
        2,
        "12",
      ]);
      expect(await get("id=12")).toEqual([
        12,
        undefined,
        undefined,
        undefined,
        undefined,
        undefined,
      ]);
      expect(await get("id=0x10&until=soon&big=1.5&level=3")).toBe(
        `id: expected number, got text
until: expected a date (ISO 8601), got text
big: expected a whole number, or text of one, got text
level: expected "x", 1 or 2, got "3"`,
      );
      expect(await get("id=1&id=2")).toBe("id: expected number, got a list");
      expect(await get("id=1&more=2")).toBe("Unknown parameter 'more'");
    }
    expect(seen.slice(0, 2)).toEqual([12, 12]);
  });

  it("checks-12: the fields of a form are read by type, as the text of a query is", async () => {
    const { standalone } = await guardedSite(modules);
    const send = async (...fields: [string, string | File][]) => {
      const form = new FormData();
      for (const [name, value] of fields) form.append(name, value);
      const request = new Request("http://localhost", { method: "POST", body: form });
      const type = { "content-type": request.headers.get("content-type")! };
      const bytes = new Uint8Array(await request.arrayBuffer());
      const { status, text } = await ask(standalone, "POST", "/rpc/shop/add", type, bytes);
      return status === 200 ? ran.pop() : text;
    };
    const file = new File(["x"], "x.txt");
    expect(await send(["id", "12"], ["files", file])).toMatchObject([
      12,
      [{ name: "x.txt" }],
      undefined,
    ]);
    expect(await send(["id", "a"], ["files", file], ["files", "text"])).toBe(
      "id: expected number, got text\nfiles[1]: expected a file, got text",
    );
  });

  it("a build without types reads text by the annotations of its manifest (checks-11)", async () => {
    const untyped = testModules([
      {
        fqn: "shop/find",
        parameters: [{ kind: "plain", name: "id", type: "number" }],
        in: { a: "public" },
        body: notes("shop/find"),
      },
    ]);
    const standalone = await new TestDeployment().standalone({ modules: untyped });
    expect((await ask(standalone, "GET", "/rpc/shop/find?id=12")).status).toBe(200);
    expect(ran).toEqual([[12]]);
    expect(await ask(standalone, "GET", "/rpc/shop/find?id=a")).toMatchObject({
      status: 400,
      text: "parameter 'id' must be a number",
    });
  });
});

describe("types that can't be loaded", () => {
  const start = async (types: () => Promise<object>): Promise<unknown> => {
    const modules = withTypes(testModules([untyped("public")], [], [], true), types as never);
    return await new TestDeployment().standalone({ modules }).catch((error: unknown) => error);
  };
  const untyped = (entry: SegmentEntry["access"] | Omit<SegmentEntry, "procedure">) => ({
    fqn: "shop/order",
    in: { a: entry },
    body: notes("shop/order"),
  });
  const empty = typesModule({ definitions: {}, classes: {}, functions: {} });

  it.each<[string, () => Promise<object>, string]>([
    [
      "a module that throws",
      async () => await Promise.reject(new Error("no such file")),
      "no such file",
    ],
    [
      "a module without a model",
      async () => ({}),
      "_types.js has no types that this version of Seamline can use: build again",
    ],
    [
      "a model without a public procedure",
      async () => empty,
      "_types.js has no types of m0#run, which callers outside reach: build again",
    ],
  ])(
    "checks-13: types that can't be loaded, or that lack a public procedure, end the start: %s",
    async (_, types, message) => {
      expect(await start(types)).toMatchObject({ message });
    },
  );

  it.each<[string, SegmentEntry["access"] | Omit<SegmentEntry, "procedure">]>([
    ["a private procedure", "private"],
    ["one with validate: false", { access: "public", validate: false }],
  ])(
    "checks-14: a procedure that callers from outside don't reach, or that isn't checked, needs no types: %s",
    async (_, entry) => {
      const modules = withTypes(testModules([untyped(entry)], [], [], true), async () => empty);
      await new TestDeployment().standalone({ modules });
    },
  );

  it("checks-15: where modules are replaced while the node runs, calls are refused while their types can't be loaded", async () => {
    const typed = application();
    let types: () => Promise<object> = async () => await typed.import("_types.js");
    const modules = withTypes(typed, (async () => await types()) as never);
    const local = new TestDeployment();
    await local.gateway();
    const node = await local.node("a", { modules, segments: ["a"] });
    expect((await post(node, right)).status).toBe(200);
    const fresh = new Set(["_types.js"]);
    types = async () => await Promise.reject(new Error("broken"));
    await expect(node.follow(["a"], fresh)).rejects.toThrow("broken");
    expect(await post(node, right)).toMatchObject({ status: 503 });
    types = async () => empty;
    await expect(node.follow(["a"], fresh)).rejects.toThrow("build again");
    expect(await post(node, right)).toMatchObject({ status: 503 });
    types = async () => await typed.import("_types.js");
    await node.follow(["a"], fresh);
    expect((await post(node, right)).status).toBe(200);
    expect(await post(node, attack)).toMatchObject({ status: 400 });
  });
});
