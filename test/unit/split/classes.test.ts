// Exported classes, and the calls that start clients.

import { describe as suite, expect, it } from "vitest";

import { describe } from "./_harness.ts";

suite("§2.3 classes", () => {
  const member = (name: string, how = "rw"): object => ({
    name,
    readable: how.includes("r"),
    writable: how.includes("w"),
  });

  it("are told with their constructor and their public data", () => {
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

  it("have the members that a constructor assigns by a pattern, or where there is nothing yet", () => {
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
  ])("%s", (source, expected) => {
    expect(describe(source).classes).toEqual(expected);
  });

  it("take over what parents have that nobody else can name", () => {
    const source =
      "class Root extends Error { code = 1; constructor(code: number) { super() } }\nclass Middle extends Root { get code() { return 2 } }\nexport class Leaf extends Middle { own = 1 }\nexport class Other extends Leaf {}";
    expect(describe(source).classes).toEqual([
      {
        name: "Leaf",
        export: "Leaf",
        superclass: "Error",
        parameters: ["code"],
        members: [member("code", "r"), member("own")],
      },
      { name: "Other", export: "Other", superclass: "Leaf", members: [] },
    ]);
  });
});

suite("clients", () => {
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
  ])("%s", (source, calls, imports = []) => {
    const { startClientCalls, clientImports } = describe(source);
    expect({ startClientCalls, clientImports }).toEqual({
      startClientCalls: calls,
      clientImports: imports,
    });
  });

  it.each(["startClient(name)", "startClient('ui', ...names)", "startClient(`${name}`)"])(
    "%s is a problem",
    (call) => {
      const { startClientCalls } = describe(
        `import { startClient } from "seamline/client";\n${call};`,
      );
      expect(startClientCalls).toMatchObject([
        {
          problem: {
            line: 2,
            message: expect.stringContaining("no literal"),
            hint: expect.stringContaining('"clients"'),
          },
        },
      ]);
    },
  );
});
