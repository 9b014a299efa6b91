// The runner of the examples refuses what a page gets wrong: a check that can't fail checks nothing.

import { describe, expect, it } from "vitest";
import { blocksOf, stepsOf } from "./_blocks.ts";
import { difference } from "./_output.ts";
import { portsFor } from "./_ports.ts";
import { runPage } from "./_runner.ts";

const fenced = (label: string, text: string): string => `\`\`\`${label}\n${text}\n\`\`\`\n`;
const file = (path: string, text: string): string => `\n\`${path}\`\n${fenced("ts", text)}`;

describe("blocks of a page", () => {
  it("know what they are for, also in a comment", () => {
    const page = `# Page\n${file("src/a.ts", "1;")}<!-- hidden\n\`b.ts\`\n${fenced("ts", "2;")}-->\n${fenced("sh run", "true")}`;
    expect(
      blocksOf("p.md", page).map(({ at, kind, path, text }) => [at, kind, path, text]),
    ).toEqual([
      ["p.md:4", "file", "src/a.ts", "1;\n"],
      ["p.md:9", "file", "b.ts", "2;\n"],
      ["p.md:13", "run", "", "true\n"],
    ]);
  });

  it.each([
    [fenced("", "1;"), "a block has to say what it is for"],
    [fenced("ts", "1;"), "a block has to say what it is for"],
    [`\`a.ts\`\n\n${fenced("ts", "1;")}`, "a block has to say what it is for"],
    [fenced("ts src/a.ts", "1;"), "isn't run, test or shown"],
    [fenced("ts run", "1;"), "only sh is run"],
    [fenced("ts test", "1;"), "only js is run as a test"],
    [`\`a.ts\`\n${fenced("sh run", "true")}`, "`a.ts` is never written"],
    [`\`../a.ts\`\n${fenced("ts", "1;")}`, "isn't a path in the application"],
    [`\`npm test\`\n${fenced("ts", "1;")}`, "isn't a path in the application"],
    [`Write\n\`a.ts\`\n${fenced("ts", "1;")}`, "the line above 'a.ts' isn't empty"],
    [`  \`a.ts\`\n${fenced("ts", "1;")}`, "'a.ts' isn't indented as its block is"],
  ])("are refused as %j", (text, message) => {
    expect(() => blocksOf("p.md", text)).toThrow(message);
  });

  it("stand in lists as well", () => {
    expect(
      blocksOf(
        "p.md",
        "1. Write:\n\n   `a.ts`\n   ```ts\n   if (a) {\n     b();\n\n   }\n   ```\n",
      ),
    ).toMatchObject([{ path: "a.ts", text: "if (a) {\n  b();\n\n}\n" }]);
  });

  it.each(["~~~ts\n1;\n~~~\n", "> ```ts shown\n> 1;\n> ```\n"])(
    "in another form are refused: %j",
    (text) => {
      expect(() => blocksOf("p.md", `\n${text}`)).toThrow("p.md:2: a fence stands");
    },
  );

  it("without an end are refused", () => {
    expect(() => blocksOf("p.md", "\n```sh run\ntrue\n")).toThrow("p.md:2: the block has no end");
  });

  it("of commands are cut where their output stands", () => {
    const text =
      "# a comment\none \\\n  more\ntwo\n# out\n#\n# more\n\n# again one\nserve &\n# up\nlast '{\n  1 }'\nkill %1\nthen\n";
    expect(stepsOf({ at: "", line: 1, language: "sh", kind: "run", path: "", text })).toEqual([
      {
        line: 3,
        outputLine: 6,
        command: "one \\\n  more\ntwo",
        service: false,
        expected: ["out", "", "more"],
      },
      { line: 11, outputLine: 12, command: "serve", service: true, expected: ["up"] },
      { line: 13, outputLine: 15, command: "last '{\n  1 }'", service: false, expected: undefined },
      { line: 15, outputLine: 16, command: "kill %1", service: false, expected: undefined },
      { line: 16, outputLine: 17, command: "then", service: false, expected: undefined },
    ]);
  });
});

describe("an output", () => {
  it.each([
    [["one", "two"], "one\ntwo\n", true],
    [["one"], "one\ntwo\n", false],
    [["one", "two"], "one\n", false],
    [["built in … s: 1"], "built in 0.3 s: 1", true],
    [["built in … s: 1"], "built in 0.3 s: 2", false],
    [["one", "…"], "one\ntwo\nthree", true],
    [["one", "…"], "one", true],
    [["…", "three"], "one\ntwo", false],
    [["a.c"], "abc", false],
  ] as const)("%j is compared with %j", (expected, actual, same) => {
    expect(difference(expected, actual) === undefined).toBe(same);
  });

  it("that differs is shown beside what was expected", () => {
    expect(difference(["a", "b"], "a\nc\nd")).toBe("    a\n  - b\n  + c\n  + d");
  });
});

it("ports of a page are others in each run, and come back in outputs", async () => {
  const page = "http://127.0.0.1:3000 PORT=3001 port: 3001 3001 metres";
  const { real, toReal, toPage } = await portsFor(page);
  expect(new Set(real).size).toBe(2);
  expect(toReal(page)).toBe(
    `http://127.0.0.1:${real[0]} PORT=${real[1]} port: ${real[1]} 3001 metres`,
  );
  expect(toPage(toReal(page))).toBe(page);
});

describe("a page fails, with its name and the line,", () => {
  const failuresOf = async (text: string): Promise<readonly string[]> =>
    (await runPage("p.md", text)).failures;

  it("by an output that differs", async () => {
    expect(await failuresOf(fenced("sh run", "echo 1\n# 2"))).toEqual([
      "p.md:3: the output of echo 1\n  - 2\n  + 1",
    ]);
  });

  it("by a command that fails before another", async () => {
    expect(await failuresOf(fenced("sh run", "false\necho 1"))).toEqual([
      "p.md:2: ended with 1: false\necho 1\n",
    ]);
  });

  it("by a command that fails and says no output", async () => {
    expect(await failuresOf(fenced("sh run", "echo why; exit 3"))).toEqual([
      "p.md:2: ended with 3: echo why; exit 3\nwhy\n",
    ]);
  });

  it("by a test that fails", async () => {
    const [failure, ...others] = await failuresOf(fenced("js test", "\nassert.equal(1, 2);"));
    expect(others).toEqual([]);
    expect(failure).toMatch(/^p\.md:1: the test failed/);
    expect(failure).toContain("at p.md:3:8");
  });

  it("by a service that ends", async () => {
    expect(await failuresOf(fenced("sh run", "echo port: 3000; false &"))).toEqual([
      "p.md:2: ended: echo port: 3000; false\nport: 3000\n",
    ]);
  });

  it("by a service to stop that isn't there", async () => {
    expect(await failuresOf(fenced("sh run", "kill %1"))).toEqual([
      "p.md:2: there is no service %1",
    ]);
  });
});
