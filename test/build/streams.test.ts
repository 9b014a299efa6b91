// Procedures that are async generators: their entries in manifests, and `resume` in segment files.

import { describe, expect, it } from "vitest";

import type { Application } from "../../server/compile/cut/application.ts";
import { createFixture, type Files, shop } from "./_fixture.ts";
import { readAt } from "./_reading.ts";

const rows = "export async function* rows(): AsyncGenerator<number> {\n  yield 1;\n}\n";
const entry = (fields: object, module = "./shop/rows", name = "rows"): Files => ({
  "segments/rows.segment.json": JSON.stringify({
    [module]: { [name]: { access: "public", ...fields } },
  }),
});

async function read(files: Files): Promise<Application> {
  return await readAt(createFixture(files).root);
}

describe("a build with procedures that are async generators", () => {
  it("says so in both manifests, and of no other procedure", async () => {
    const app = createFixture({
      ...shop,
      ...entry({ resume: true }),
      "src/shop/rows.ts":
        'import { getContext } from "seamline";\nexport async function* rows(): AsyncGenerator<string> {\n  yield `${getContext().lastEventId}`;\n}\n',
      "src/ui/lines.tsx":
        "const made = (run: any): any => run;\nexport const lines: (text: string) => AsyncIterable<string> = made(async function* (text: string) {\n  yield text as string;\n});\n",
      "src/ui/ui.segment.json":
        '{ "./ui/filter": { "filter": { "access": "public" } }, "./ui/lines": { "lines": { "access": "public" } } }',
    });
    const { warnings } = await app.build();
    expect(warnings).toEqual([]);
    const { procedures, segments } = app.manifest();
    expect(procedures.map(({ fqn, stream }) => [fqn, stream])).toEqual([
      ["shop/quote", undefined],
      ["shop/rows", true],
      ["shop/stock", undefined],
      ["ui/filter", undefined],
      ["ui/lines", true],
    ]);
    expect(segments["rows"]).toEqual([
      { procedure: 1, access: "public", idempotent: true, resume: true },
    ]);
    expect(app.browserManifest().procedures).toEqual([
      {
        fqn: "ui/filter",
        version: "0.0.0",
        module: "ui/filter",
        export: "filter",
        parameters: [{ kind: "plain", name: "words", type: "string[]" }],
      },
      {
        fqn: "ui/lines",
        version: "0.0.0",
        module: "ui/lines",
        export: "lines",
        parameters: [{ kind: "plain", name: "text" }],
        stream: true,
      },
    ]);
  });
});

describe("an entry with `resume`", () => {
  it("is a problem if the function isn't a stream, and says what else there is", async () => {
    const { problems } = await read({
      ...entry({ resume: true }),
      "src/shop/rows.ts": "export async function rows(): Promise<void> {}\n",
    });
    expect(problems).toEqual([
      {
        file: "segments/rows.segment.json",
        line: 1,
        column: 17,
        path: '$["./shop/rows"].rows',
        message: '"resume" belongs to a stream, and "rows" of src/shop/rows.ts isn\'t one',
        hint: expect.stringMatching(/`async function\*`.*"idempotent"/) as unknown,
      },
    ]);
  });

  it("is a warning if nothing reads the id of the last item that arrived", async () => {
    const { problems, warnings } = await read({
      ...entry({ resume: true }),
      "src/shop/rows.ts": rows,
    });
    expect(problems).toEqual([]);
    expect(warnings).toEqual([
      {
        file: "segments/rows.segment.json",
        line: 1,
        column: 17,
        path: '$["./shop/rows"].rows',
        message:
          '"shop/rows" has "resume", but nothing in src/shop/rows.ts reads `lastEventId`: after a cut its callers get all items again',
        hint: expect.stringContaining("getContext().lastEventId") as unknown,
      },
    ]);
    expect((await read({ ...entry({}), "src/shop/rows.ts": rows })).warnings).toEqual([]);
  });

  it.each<[what: string, files: Files]>([
    ["the function", { "src/shop/rows.ts": rows.replace("1", "this.lastEventId") }],
    [
      "a function of the module",
      {
        "src/shop/rows.ts": `const since = () => getContext()["lastEventId"];\n${rows.replace("1", "since()")}`,
      },
    ],
    [
      "the header",
      { "src/shop/rows.ts": rows.replace("1", 'getContext().headers.get("last-event-id")') },
    ],
    [
      "a module behind one that it imports",
      {
        "src/shop/rows.ts": `import { since } from "../since.ts";\n${rows.replace("1", "since()")}`,
        "src/since.ts": 'export { since } from "./context.ts";\n',
        "src/context.ts": "export const since = () => getContext().lastEventId;\n",
      },
    ],
  ])("isn't a warning if %s reads it", async (_what, files) => {
    expect(await read({ ...entry({ resume: true }), ...files })).toMatchObject({
      problems: [],
      warnings: [],
    });
  });
});
