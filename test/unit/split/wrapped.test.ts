// Functions that another function makes: `authed(async (user, title) => …)`. Their parameters are
// those of the declared type, never those of the function inside.

import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { describe, expect, it, onTestFinished } from "vitest";

import { traceOf } from "../../../src/base/trace.ts";
import { createChecked } from "../../../src/runtime/checked.ts";
import { runChecked } from "../../../src/runtime/run-checked.ts";

import { application, describe as describeSource, split } from "./_harness.ts";

const authed = `const authed = (run: any): any => async (...args: any[]) => run("signed in", ...args);\n`;
const inside = "authed(async (user: string, title: string) => `${user} ${title}`)";

/** The parameters of an export, or its problems. */
function parametersOf(source: string, name = "create", file = "shop/m.ts") {
  const found = describeSource(source, file).exports.find((candidate) => candidate.name === name);
  if (found === undefined) throw new Error(`no ${name}`);
  return found.problems.length > 0
    ? found.problems.map(({ line, column, message }) => `${line}:${column} ${message}`)
    : (found.parameters ?? []);
}

const title = [{ kind: "plain", name: "title" }];

describe("the parameters of a wrapped function", () => {
  it.each([
    ["on the constant", `export const create: (title: string) => Promise<string> = ${inside};`],
    ["in parentheses", `export const create: ((title: string) => Promise<string>) = (${inside});`],
    [
      "an alias of this module",
      `type Create = (title: string) => Promise<string>;\nexport const create: Create = ${inside};`,
    ],
    [
      "an alias that is declared below",
      `export const create: Create = ${inside};\nexport type Create = ((title: string) => Promise<string>);`,
    ],
    [
      "an interface",
      `interface Create { (title: string): Promise<string>; role: string }\nexport const create: Create = ${inside};`,
    ],
    ["an object type", `export const create: { (title: string): Promise<string> } = ${inside};`],
    ["satisfies", `export const create = ${inside} satisfies (title: string) => Promise<string>;`],
    ["as", `export const create = ${inside} as (title: string) => Promise<string>;`],
    ["in angle brackets", `export const create = <(title: string) => Promise<string>>${inside};`],
    [
      "an export list",
      `const made: (title: string) => Promise<string> = ${inside};\nexport { made as create };`,
    ],
    [
      "an alias of the constant",
      `const made: (title: string) => Promise<string> = ${inside};\nexport const create = made;`,
    ],
    [
      "a this parameter",
      `export const create: (this: Context | void, title: string) => Promise<string> = ${inside};`,
    ],
    [
      "its own type parameters",
      `export const create: <T>(title: string) => Promise<T> = ${inside};`,
    ],
    [
      "a conditional expression",
      `export const create: (title: string) => Promise<string> = dev ? async (a: string) => a : ${inside};`,
    ],
    [
      "a bound function",
      `export const create: (title: string) => Promise<string> = make.bind(null, "x");`,
    ],
    ["a static method", `export const create: (title: string) => Promise<string> = Shop.create;`],
    [
      "an imported function in a wrapper",
      `export const create: (title: string) => Promise<string> = authed(imported);`,
    ],
  ])("are those of its function type: %s", (_, source) => {
    expect(parametersOf(authed + source)).toEqual(title);
  });

  it("are read from a function type as from a function", () => {
    const source = `interface Period { from: Date; to?: Date }
export const create: (title: string, { from, to }: Period, [x, y]: [number, number?], count?: number, ...tags: string[]) => Promise<void> = ${inside};`;
    expect(parametersOf(authed + source)).toEqual([
      { kind: "plain", name: "title" },
      {
        kind: "object",
        names: [
          { name: "from", type: "Date" },
          { name: "to", optional: true, type: "Date" },
        ],
      },
      {
        kind: "array",
        names: [
          { name: "x", type: "number" },
          { name: "y", optional: true, type: "number" },
        ],
      },
      { kind: "plain", name: "count", optional: true, type: "number" },
      { kind: "rest", name: "tags" },
    ]);
    expect(
      describeSource(authed + source).exports.find(({ name }) => name === "create")?.signature,
    ).toBe(
      "(title: string, { from, to }: Period, [x, y]: [number, number?], count?: number, ...tags: string[]): Promise<void>",
    );
  });

  it("are those of the type on a default export's expression", () => {
    const source = `${authed}export default ${inside} satisfies (title: string) => Promise<string>;`;
    expect(parametersOf(source, "default")).toEqual(title);
  });

  it.each([
    [
      "above a constant",
      `/** Makes one.\n * @type {(title: string) => Promise<string>} */\nexport const create = ${inside};`,
      "create",
    ],
    [
      "of several lines",
      `/**\n * @type {(\n *   title: string,\n * ) => Promise<{ id: string }>}\n */\nexport const create = ${inside};`,
      "create",
    ],
    [
      "before an expression",
      `export const create = /** @type {(title: string) => Promise<string>} */ (${inside});`,
      "create",
    ],
    [
      "in a default export",
      `export default /** @type {(title: string) => Promise<string>} */ (${inside});`,
      "default",
    ],
    [
      "in an export list",
      `/** @type {(title: string) => Promise<string>} */\nconst made = ${inside};\nexport { made as create };`,
      "create",
    ],
  ])("are those of a JSDoc type in JavaScript: %s", (_, source, name) => {
    expect(
      parametersOf(source.replaceAll(": string, title: string)", ", title)"), name, "shop/m.js"),
    ).toEqual(title);
  });

  it.each([
    ["in parentheses", "export const create = (async (title: string) => title);"],
    ["with a cast", "export const create = (async (title: string) => title) as Handler;"],
    ["of a type", "export const create: Handler = async (title: string) => title;"],
    ["an alias", "async function make(title: string) {}\nexport const create = make;"],
    [
      "with members",
      "export const create = Object.assign(async (title: string) => title, { role: 'x' });",
    ],
    [
      "with members, by name",
      "const make = async (title: string) => title;\nexport const create = Object.assign(make, { role: 'x' });",
    ],
  ])("are the function's own if it isn't wrapped: %s", (_, source) => {
    expect(parametersOf(source)).toEqual(title);
  });
});

describe("a wrapped function without a readable type", () => {
  const unknown = "the source doesn't say which parameters callers give";
  it.each([
    [
      "a wrapper",
      `export const create = ${inside};`,
      `2:14 'create' comes from authed(…): ${unknown}`,
    ],
    [
      "by name",
      `const made = ${inside};\nexport { made as create };`,
      `3:10 'create' comes from authed(…): ${unknown}`,
    ],
    [
      "a local function in a wrapper",
      "async function make(user: string) {}\nexport const create = authed(make);",
      `3:14 'create' comes from authed(…): ${unknown}`,
    ],
    [
      "a bound function",
      "async function make(a: string) {}\nexport const create = make.bind(null, 'x');",
      `3:14 'create' comes from make.bind(…): ${unknown}`,
    ],
    [
      "a conditional expression",
      "export const create = dev ? async () => {} : async (a: 1) => {};",
      `2:14 'create' comes from an expression: ${unknown}`,
    ],
    [
      "a static method",
      "export const create = Shop.create;",
      `2:14 'create' comes from Shop.create: ${unknown}`,
    ],
    [
      "destructuring",
      "export const { create } = shop;",
      `2:14 'create' comes from an expression: ${unknown}`,
    ],
    [
      "`satisfies` with a type that isn't a function type",
      `export const create = ${inside} satisfies Handler;`,
      "2:14 'create' has the type Handler, which isn't a function type declared in this file",
    ],
    [
      "an imported type",
      `import type { Create } from "./types";\nexport const create: Create = ${inside};`,
      "3:14 'create' has the type Create, which isn't a function type declared in this file",
    ],
    [
      "a computed type",
      `type Create<T> = (title: T) => Promise<T>;\nexport const create: Create<string> = ${inside};`,
      "3:14 'create' has the type Create<string>, which isn't a function type declared in this file",
    ],
    [
      "two call signatures",
      `interface Create { (a: string): Promise<string>; (b: number): Promise<string> }\nexport const create: Create = ${inside};`,
      "3:14 'create' has the type Create, which isn't a function type declared in this file",
    ],
    [
      "a type without a promise",
      `export const create: (title: string) => string = ${inside};`,
      "2:14 'create' is named by a segment, but its type doesn't return a promise",
    ],
    [
      "a nested pattern in the type",
      `export const create: ({ a: { b } }: any) => Promise<void> = ${inside};`,
      "2:28 A pattern inside a parameter's pattern is not supported",
    ],
  ])("is refused: %s", (_, source, expected) => {
    expect(parametersOf(authed + source)).toEqual([expected]);
  });

  it("gets a hint that says which type to write, in TypeScript and in JavaScript", () => {
    const hints = (file: string, source: string) =>
      describeSource(source, file).exports.flatMap(({ problems }) =>
        problems.map(({ hint }) => hint),
      );
    expect(hints("a.ts", "export const create = authed(async () => {});")).toEqual([
      "Write its type: const create: (title: string) => Promise<string> = authed(…)",
    ]);
    expect(hints("a.ts", "export default authed(async () => {});")).toEqual([
      "Write its type: export default authed(…) satisfies (title: string) => Promise<string>",
    ]);
    expect(hints("a.js", "export const create = authed(async () => {});")).toEqual([
      "Write its type in a comment above it: /** @type {(title: string) => Promise<string>} */",
    ]);
    expect(hints("a.ts", "export const create: Create = authed(async () => {});")).toEqual([
      "Write the function type itself: const create: (title: string) => Promise<string> = …; imported and computed types can't be read here",
    ]);
  });

  it("is fine if no segment names it", () => {
    const { problems } = split(
      `${authed}export const create = ${inside};\nexport async function f() { return create("x"); }`,
      {
        procedures: ["f"],
      },
    );
    expect(problems).toEqual([]);
  });
});

describe("a wrapped function that is split", () => {
  it.each([
    [
      "a constant",
      `${authed}export const create: (title: string) => Promise<string> = ${inside};`,
      "create",
    ],
    [
      "a default export",
      `${authed}export default ${inside} satisfies (title: string) => Promise<string>;`,
      "default",
    ],
    [
      "a function that is not in the text",
      `class Shop { static async create(title: string) { return "signed in " + title; } }\nexport const create: (title: string) => Promise<string> = Shop.create;`,
      "create",
    ],
    [
      "a function with members",
      `export const create = Object.assign(async (title: string) => "signed in " + title, { role: "x" });`,
      "create",
    ],
  ])("runs through its wrapper and has the length of its type: %s", async (_, text, name) => {
    const made = await application({ m: { text, procedures: [name] } }).import("m");
    expect(await made[name]?.("felt")).toBe("signed in felt");
    expect(made[name]?.length).toBe(1);
  });
});

describe("a type in a JSDoc comment", () => {
  const type = "/** @type {(title: string) => Promise<string>} */";
  const made = "export const create = make(async (user, title) => title);";
  const isRead = (source: string, file = "shop/m.js"): boolean =>
    JSON.stringify(parametersOf(source, "create", file)) === JSON.stringify(title);

  it("is read above its statement, in JavaScript only", () => {
    for (const file of ["m.js", "m.mjs", "m.jsx"])
      expect(isRead(`${type}\n${made}`, file)).toBe(true);
    for (const file of ["m.ts", "m.tsx", "data.json.ts"])
      expect(isRead(`${type}\n${made}`, file)).toBe(false);
  });

  it.each([
    ["above another statement", `${type}\nconst other = 1;\n${made}`],
    ["behind it", `${made}\n${type}`],
    ["in a comment that is no JSDoc", `/* @type {(title: string) => Promise<string>} */\n${made}`],
    ["in a line's comment", `//* @type {(title: string) => Promise<string>}\n${made}`],
    ["with a mistake", `/** @type {(title: ) => Promise} */\n${made}`],
  ])("isn't read %s", (_, source) => {
    expect(isRead(source)).toBe(false);
  });

  it("counts if it is the one nearest to the value", () => {
    expect(
      isRead(`/** @type {(a: string, b: string) => Promise<string>} */\n${type}\n${made}`),
    ).toBe(true);
  });

  it("belongs to the first of several declarators", () => {
    const both = `${type}\nexport const create = make(async (a) => a), second = make(async (a) => a);`;
    expect(isRead(both)).toBe(true);
    expect(parametersOf(both, "second", "shop/m.js")).not.toEqual(title);
  });
});

describe("the asserted type of an export", () => {
  it("is the one inside `as const`", () => {
    const source = `export const create = (${inside} satisfies (title: string) => Promise<string>) as const;`;
    expect(parametersOf(source)).toEqual(title);
  });

  it("is unknown if aliases form a circle", () => {
    for (const types of ["type C = (C);", "type C = D; type D = C;"]) {
      expect(parametersOf(`${types}\nexport async function create(title: C) {}`)).toEqual([
        { kind: "plain", name: "title" },
      ]);
      expect(parametersOf(`${types}\nexport const create: C = ${inside};`)?.[0]).toContain(
        "has the type C",
      );
    }
  });
});

describe("a function in `checked` of seamline", () => {
  const head = 'import { checked } from "seamline";\n';
  const inner = "async (title: Date, count = 1) => `${title} ${count}`";
  const own = [
    { kind: "plain", name: "title" },
    { kind: "plain", name: "count", optional: true, type: "number" },
  ];

  it.each([
    ["on a constant", `${head}export const create = checked(schema, ${inner});`],
    [
      "in an export list",
      `${head}const made = checked(schema, ${inner});\nexport { made as create };`,
    ],
    [
      "by another constant",
      `${head}const made = checked(schema, ${inner});\nexport const create = made;`,
    ],
    ["in parentheses", `${head}export const create = (checked((schema), (${inner}),));`],
    [
      "under another name",
      `import { checked as valid } from "seamline";\nexport const create = valid(schema, ${inner});`,
    ],
    [
      "of a namespace",
      `import * as seamline from "seamline";\nexport const create = seamline.checked(schema, ${inner});`,
    ],
    ["by its name", `${head}const run = ${inner};\nexport const create = checked(schema, run);`],
    [
      "with members",
      `${head}export const create = Object.assign(checked(schema, ${inner}), { a: 1 });`,
    ],
  ])("has its own parameters, and its first annotation converts no text: %s", (_, source) => {
    expect(parametersOf(source)).toEqual(own);
    expect(parametersOf(source.replaceAll(": Date", ""), "create", "shop/m.js")).toEqual(own);
  });

  it("has its own parameters as a default export", () => {
    expect(parametersOf(`${head}export default checked(schema, ${inner});`, "default")).toEqual(
      own,
    );
  });

  it("has the names of its pattern, without what their defaults would convert", () => {
    expect(
      parametersOf(
        `${head}export const create = checked(schema, async ({ title, count = 1 }) => {});`,
      ),
    ).toEqual([{ kind: "object", names: [{ name: "title" }, { name: "count", optional: true }] }]);
  });

  it("has the parameters of a type that is declared, which says what callers give", () => {
    expect(
      parametersOf(
        `${head}export const create: (count: number) => Promise<string> = checked(schema, async (title: string) => title);`,
      ),
    ).toEqual([{ kind: "plain", name: "count", type: "number" }]);
  });

  it.each([
    [
      "it isn't async",
      `${head}export const create = checked(schema, (title: string) => title);`,
      "2:39 'create' is named by a segment, but it is not async",
    ],
    [
      "another function made it",
      `${head}export const create = checked(schema, authed(async (user: string, title: string) => title));`,
      "2:14 'create' comes from checked(…): the source doesn't say which parameters callers give",
    ],
    [
      "another package's `checked` made it",
      `import { checked } from "./checked";\nexport const create = checked(schema, async (title: string) => title);`,
      "2:14 'create' comes from checked(…): the source doesn't say which parameters callers give",
    ],
    [
      "a function of this module with that name made it",
      `const checked = (a: any, b: any): any => b;\nexport const create = checked(schema, async (title: string) => title);`,
      "2:14 'create' comes from checked(…): the source doesn't say which parameters callers give",
    ],
  ])("is refused if %s", (_, source, expected) => {
    expect(parametersOf(source)).toEqual([expected]);
  });

  it.each([
    ["a parameter", "export const create = checked(schema, async (title) => title);", ', "title")'],
    [
      "a default",
      "export const create = checked(schema, async (title = 1) => title);",
      ', "title")',
    ],
    [
      "`this`",
      "export const create = checked(schema, async function (this: Context, title) {});",
      ', "title")',
    ],
    [
      "parentheses and a comma",
      "export const create = checked(schema, (async (title) => title),);",
      '(async (title) => title), "title",)',
    ],
    [
      "a declared type",
      "export const create: (count: number) => Promise<void> = checked(schema, async (title) => {});",
      ', "count")',
    ],
    [
      "a pattern",
      "export const create = checked(schema, async ({ title }) => title);",
      "=> title)",
    ],
    [
      "a name of its own",
      'export const create = checked(schema, async (title) => title, "T");',
      '=> title, "T")',
    ],
  ])("is told the name that callers give, for its messages: %s", (_, source, expected) => {
    const { body, problems } = split(head + source, { procedures: ["create"] });
    expect(problems).toEqual([]);
    expect(body?.code).toContain(expected);
  });

  it("may be an async generator: the schema runs before it, and a refusal has the procedure's trace line", async () => {
    const key = `seamline test checked ${process.pid}`;
    Reflect.set(
      globalThis,
      key,
      createChecked(() => ({ runChecked })),
    );
    onTestFinished(() => void Reflect.deleteProperty(globalThis, key));
    const app = application({
      m: {
        procedures: ["create"],
        text: `${head}
          const validate = (n: number) => n > 0 ? { value: n * 2 } : { issues: [{ message: "too small" }] };
          export const create = checked({ "~standard": { validate } }, async function* (n: number) { yield n; return this.headers.size });
        `,
      },
    });
    const folder = join(app.folder, "node_modules/seamline");
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, "package.json"), '{ "type": "module", "exports": "./index.js" }');
    writeFileSync(
      join(folder, "index.js"),
      `export const checked = globalThis[${JSON.stringify(key)}];`,
    );
    const create = (await app.import("m"))["create"] as unknown as (n: number) => AsyncGenerator;
    const items = create(2);
    expect(await items.next()).toEqual({ value: 4, done: false });
    expect(await items.next()).toEqual({ value: 0, done: true });
    const error = await create(-1)
      .next()
      .catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ name: "InvalidParameterValue", message: "n: too small" });
    expect(traceOf(error)).toEqual(["[shop/create | v1.0.0]"]);
  });
});
