// The description of exported classes, and of calls that start clients.

import { describe as suite, expect, it } from "vitest";

import { describe } from "./_harness.ts";

suite("the description of a class", () => {
  const member = (name: string, how = "rw"): object => ({
    name,
    readable: how.includes("r"),
    writable: how.includes("w"),
  });

  it("has the constructor's parameters and the public data members", () => {
    const source = `
      export class Person<T> {
        name: string; readonly born = new Date(); static count = 0; #hidden = 1; private plain = 2; declare later: T;
        "quoted" = 1; [computed] = 2; accessor both = 3; method() {} arrow = () => {}; fn = function () {};
        get age() { return 1 } get full() { return "" } set full(value) {} set only(value) {} static get s() { return 1 }
        constructor(name: string, public readonly id: number, private secret = 1, { a }: X = {}, ...tags: string[]) {
          this.name = name; this.extra = 1; if (a) { this["in"] = 2; (this as any).cast = 3 } this.method = () => {}; const f = () => { this.not = 1 };
        }
      }
    `;
    const [found] = describe(source).classes;
    expect(found).toMatchObject({
      name: "Person",
      export: "Person",
      parameters: ["name", "id", "secret", "", "...tags"],
    });
    expect(found?.members).toEqual([
      member("name"),
      member("born"),
      member("plain"),
      member("later"),
      member("quoted"),
      member("both"),
      member("age", "r"),
      member("full"),
      member("only", "w"),
      member("id"),
      member("secret"),
      member("extra"),
      member("in"),
    ]);
  });

  it("has members that the constructor assigns by a pattern or by `??=`", () => {
    const source =
      "export class A { constructor(a, b) { [this.a, { x: this.b = 1, ...this.rest }] = [a, b]; this.c ??= 1; this.d ||= 2; this.e &&= 3; this.f += 1; this.g ??= () => {}; other.h = 1; [this[i]] = a; } }";
    expect(describe(source).classes[0]?.members).toEqual(
      ["a", "b", "rest", "c", "d", "e"].map((name) => member(name)),
    );
  });

  it.each<[source: string, expected: object[]]>([
    ["export class A {}", [{ name: "A", export: "A", parameters: [], members: [] }]],
    ["export class A extends B<C> {}", [{ name: "A", export: "A", superclass: "B", members: [] }]],
    [
      "export default class extends x.Y {}",
      [{ name: "", export: "default", superclass: "x.Y", members: [] }],
    ],
    [
      "class A {}\nexport { A as B }; export { A as C }",
      [
        { name: "A", export: "B", parameters: [], members: [] },
        { name: "A", export: "C", parameters: [], members: [] },
      ],
    ],
    ["export const A = class {}", [{ name: "A", export: "A", parameters: [], members: [] }]],
    [
      "export abstract class A { abstract a: string; abstract get b(): string; constructor(); constructor(x?: 1) {} }",
      [{ name: "A", export: "A", parameters: ["x"], members: [] }],
    ],
    ["class A {}", []],
  ])("is complete for  %s", (source, expected) => {
    expect(describe(source).classes).toEqual(expected);
  });

  it("includes what it inherits from parents that aren't exported", () => {
    const source =
      "class Root extends Error { code = 1; constructor(code: number) { super() } }\nclass Middle extends Root { get code() { return 2 } }\nexport class Leaf extends Middle { own = 1 }\nexport class Other extends Leaf {}";
    expect(describe(source).classes).toEqual([
      {
        name: "Leaf",
        export: "Leaf",
        superclass: "Error",
        parameters: ["code"],
        required: [{ name: "code", line: 1, column: 50 }],
        members: [member("code", "r"), member("own")],
      },
      { name: "Other", export: "Other", superclass: "Leaf", members: [] },
    ]);
  });
});

suite("calls of a client", () => {
  it.each<[source: string, calls: object[], imports?: string[]]>([
    [
      'import { startClient } from "seamline/client"; startClient("ui", `admin`)',
      [{ segments: ["ui", "admin"] }],
    ],
    [
      'import { startClient as go } from "/svc/client.js"; const c = await go("ui"); c.import("./shop.js"); c.import("./shop.js"); c.import(x)',
      [{ segments: ["ui"] }],
      ["./shop.js"],
    ],
    ['import * as seamline from "seamline/client"; seamline.startClient()', [{ segments: [] }]],
    [
      'const { startClient } = await import("/svc/client.js"); (await startClient("ui")).import("./a").then(x)',
      [{ segments: ["ui"] }],
      ["./a"],
    ],
    ['(await import("/svc/client.js")).startClient("ui")', [{ segments: ["ui"] }]],
    ['import { startClient } from "elsewhere"; startClient("ui"); x.import("bare")', []],
    [
      'import { startClient } from "seamline"; startClient("ui")',
      [
        {
          problem: expect.objectContaining({
            message: '"seamline" doesn\'t export "startClient"',
            hint: 'Import it from "seamline/client".',
          }) as object,
        },
      ],
    ],
    ['function startClient() {} startClient("ui")', []],
    [
      'import { client } from "./client"; export const load = () => client.import("../shop/quote.ts")',
      [],
      ["../shop/quote.ts"],
    ],
    ["client . import('./a')", [], ["./a"]],
    ["client\n  .import('./a')", [], ["./a"]],
    ["client./* why */import('./a')", [], ["./a"]],
    ['client["import"]("./a")', [], ["./a"]],
    ["client.imp\\u006frt('./a')", [], ["./a"]],
    [
      'import * as seamline from "seamline/client"; seamline["start\\u0043lient"]("ui")',
      [{ segments: ["ui"] }],
    ],
  ])("are found in  %s", (source, calls, imports = []) => {
    const { startClientCalls, clientImports } = describe(source);
    expect({ startClientCalls, clientImports }).toEqual({
      startClientCalls: calls,
      clientImports: imports,
    });
  });

  it.each(["startClient(name)", "startClient('ui', ...names)", "startClient(`${name}`)"])(
    "with an argument that isn't a literal are a problem: %s",
    (call) => {
      const { startClientCalls } = describe(
        `import { startClient } from "seamline/client";\n${call};`,
      );
      expect(startClientCalls).toMatchObject([
        {
          problem: {
            line: 2,
            message: expect.stringContaining("isn't a literal"),
            hint: expect.stringContaining('"browserSegments"'),
          },
        },
      ]);
    },
  );
});

suite("the description of class members", () => {
  const members = (source: string) => describe(source).classes[0]?.members.map((one) => one.name);
  const unread = (source: string) => describe(source).classes[0]?.unread;

  it("has the name behind a key that a constant computes", () => {
    expect(members('const kind = "kind";\nexport class A { [kind] = 1; }')).toEqual(["kind"]);
    expect(members('export const kind = "kind" as const;\nexport class A { [kind] = 1; }')).toEqual(
      ["kind"],
    );
    expect(members("const kind = 7;\nexport class A { [kind] = 1; }")).toEqual(["7"]);
  });

  it.each([
    'let kind = "kind";\nexport class A { [kind] = 1; a = 2; }',
    "const { kind } = names;\nexport class A { [kind] = 1; a = 2; }",
    'import { kind } from "./k";\nexport class A { [kind] = 1; a = 2; }',
  ])("has a computed key that isn't a constant as unread: %s", (source) => {
    expect(members(source)).toEqual(["a"]);
    expect(unread(source)).toBe("[kind]");
  });

  it("leaves out members whose key is a symbol", () => {
    const source =
      'const tag = Symbol("tag");\nexport class A { [tag] = 1; [Symbol.iterator] = 2; [Symbol.for("x")] = 3; a = 4; }';
    expect(members(source)).toEqual(["a"]);
    expect(unread(source)).toBeUndefined();
  });

  it("has numeric keys as JavaScript writes them", () => {
    expect(members("export class A { 1 = 1; 0x10 = 2; 2n = 3; [3] = 4; }")).toEqual([
      "1",
      "16",
      "2",
      "3",
    ]);
  });

  it("ignores computed keys of methods and static members", () => {
    expect(unread("export class A { [name()]() {} static [other()] = 1; }")).toBeUndefined();
  });

  it("has what the constructor assigns by a pattern, with defaults and a rest", () => {
    expect(
      members(
        "export class A { constructor(o) { ({ a: this.a, b: this.b = 1, ...this.c } = o); [this.d, , ...this.e] = o; this.f ??= 1; this.g += 1; other.h = 1; } }",
      ),
    ).toEqual(["a", "b", "c", "d", "e", "f"]);
  });

  it("reports a constructor's pattern only if it has no default", () => {
    const pattern = (parameters: string) =>
      describe(`export class A { constructor(${parameters}) {} }`).classes[0]?.pattern;
    expect(pattern("{ a }")).toEqual({ line: 1, column: 30 });
    expect(pattern("a, [b]")).toEqual({ line: 1, column: 33 });
    expect(pattern("a, { b } = {}")).toBeUndefined();
    expect(pattern("a, b")).toBeUndefined();
  });

  it("reports a constructor's parameters that have to be passed, unless each is a member", () => {
    const required = (parameters: string) =>
      describe(
        `type Maybe = string | undefined; export class A { constructor(${parameters}) {} }`,
      ).classes[0]?.required?.map(({ name }) => name);
    expect(required("a, b: string, c: { d: string }")).toEqual(["a", "b", "c"]);
    expect(required("readonly a: string, private b: string")).toBeUndefined();
    expect(required("a: string | undefined, b: Maybe, c: unknown, d: any")).toBeUndefined();
    expect(required("{ a }, [b] = [], c?: string, d = 1, ...e: string[]")).toBeUndefined();
  });

  it("includes members of a parent that no module can import", () => {
    const [found] = describe(
      "class Base { id = 1; name = 2; constructor(id, other = 1) {} }\nexport class A extends Base { name = 3; }",
    ).classes;
    expect(found).toMatchObject({ parameters: ["id", "other"], defaults: ["other"] });
    expect(found).not.toHaveProperty("superclass");
    expect(found?.members.map((one) => one.name)).toEqual(["id", "name"]);
  });

  it("has the text of a parent that is exported or imported", () => {
    const { classes } = describe(
      "export class Base { id = 1; }\nexport class A extends Base { a = 1; }\nexport class B extends (other.Base as any) { b = 1; }",
    );
    expect(
      classes.map((one) => [one.name, one.superclass, one.members.map((each) => each.name)]),
    ).toEqual([
      ["Base", undefined, ["id"]],
      ["A", "Base", ["a"]],
      ["B", "other.Base", ["b"]],
    ]);
  });
});
