import { describe, expect, it } from "vitest";

import { type Files, createFixture } from "./_fixture.ts";

async function classesOf(files: Files) {
  const names = Object.keys(files).map((file) => `./${file.slice("src/".length)}`);
  const app = createFixture({
    ...files,
    "src/run.ts": `${names.map((name) => `import type {} from "${name}";`).join("\n")}\nexport async function run(): Promise<void> {}\n`,
    "run.segment.json": '{ "./run": { "run": { "access": "public" } } }',
  });
  const { manifest, warnings } = await app.build();
  return { classes: Object.fromEntries(manifest.classes.map(({ key, ...record }) => [key, record])), warnings };
}

describe("§2.3 class records", () => {
  it("takes arguments from readable members, and fields that are no arguments", async () => {
    const { classes } = await classesOf({
      "src/people/person.ts": `export class Person {
  readonly name: string;
  tags: string[] = [];
  #born: Date;
  private note = "";
  static count = 0;
  constructor(name: string, born: Date, secret: string, ...tags: string[]) {
    this.name = name;
    this.#born = born;
    this.tags = tags;
    this.note = secret;
  }
  get born(): Date { return this.#born; }
  get age(): number { return 1; }
  get nick(): string { return this.note; }
  set nick(text: string) { this.note = text; }
  greet(): string { return this.name; }
}
`,
    });
    expect(classes).toEqual({
      "people/Person": { module: "people/person", export: "Person", args: ["name", "born", null, "...tags"], fields: ["note", "nick"] },
    });
  });

  it("flattens parents across modules and re-exports", async () => {
    const { classes } = await classesOf({
      "src/a/base.ts": 'export class Base {\n  id = 0;\n  label = "";\n  constructor(id: number) {\n    this.id = id;\n  }\n}\n',
      "src/a/index.ts": 'export { Base as Root } from "./base.ts";\n',
      "src/b/child.ts":
        'import { Root } from "../a/index.ts";\nexport class Child extends Root {\n  get label(): string { return "fixed"; }\n  more = 1;\n}\n',
      "src/b/grandchild.ts":
        'import * as all from "./child.ts";\nexport default class Grandchild extends all.Child {\n  constructor(more: number, id: number) {\n    super(id);\n    this.more = more;\n  }\n}\n',
    });
    expect(classes["b/Child"]).toEqual({ module: "b/child", export: "Child", args: ["id"], fields: ["more"] });
    expect(classes["b/Grandchild"]).toEqual({ module: "b/grandchild", export: "default", args: ["more", "id"], fields: [] });
  });

  it("knows errors by their ancestry, the framework's and the language's", async () => {
    const { classes } = await classesOf({
      "src/e/errors.ts": `import { NotFound, Teapot } from "seamline";
export class OutOfStock extends NotFound {
  readonly sku: string;
  constructor(sku: string, options?: ErrorOptions) {
    super("no " + sku, options);
    this.sku = sku;
  }
}
export class Plain extends RangeError {
  hint = "";
}
export class Pot extends Teapot {}
`,
      "src/e/more.ts":
        'import { OutOfStock } from "./errors.ts";\nexport class Gone extends OutOfStock {\n  override readonly name = "Gone";\n  since = 0;\n}\n',
    });
    expect(classes).toEqual({
      "e/OutOfStock": { module: "e/errors", export: "OutOfStock", args: ["sku"], fields: [], error: true },
      "e/Plain": { module: "e/errors", export: "Plain", args: ["message"], fields: ["hint"], error: true },
      "e/Pot": { module: "e/errors", export: "Pot", args: [], fields: [], error: true },
      "e/Gone": { module: "e/more", export: "Gone", args: ["sku"], fields: ["since"], error: true },
    });
  });

  it("warns of two classes with one key, and records the clash", async () => {
    const { classes, warnings } = await classesOf({
      "src/x/one.ts": "export class Same {}\nexport class Other {}\n",
      "src/x/two.ts": "export class Same {}\n",
    });
    expect(classes).toMatchObject({ "x/Other": { module: "x/one" }, "x/Same": { clash: "src/x/one.ts and src/x/two.ts" } });
    expect(warnings).toMatchObject([{ file: "src/x/two.ts", message: expect.stringMatching(/src\/x\/one\.ts have one key, "x\/Same"/) }]);
  });
});
