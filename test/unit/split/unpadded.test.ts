// `Part.unpadded`, by which development tells whether a part has changed.

import { describe, expect, it } from "vitest";

import { split } from "./_harness.ts";

/** The parts of a module with a shared export `kept` and a procedure `run`. */
function unpadded(
  kept: string,
  run: string,
  file = "shop/m.tsx",
): { readonly shared: string | undefined; readonly body: string | undefined } {
  const { shared, body, problems } = split(
    `${kept}\n\nexport async function run() {\n${run}\n}\n`,
    { procedures: ["run"], file },
  );
  expect(problems).toEqual([]);
  return { shared: shared?.unpadded, body: body?.unpadded };
}

const kept = "export const kept = 1;";
const run = "  return 1;";

describe("the unpadded code of a part", () => {
  it.each([
    ["a body that grows", "  const more = 2;\n  return more;"],
    ["a body of one line", "return 1; // and a longer comment, behind it"],
    ["a body with other white space", "\n\n\treturn    1;\n\n"],
  ])("doesn't change beside %s", (_, other) => {
    expect(unpadded(kept, other).shared).toBe(unpadded(kept, run).shared);
    expect(unpadded(kept, other).body).not.toBe(unpadded(kept, run).body);
  });

  it.each([
    ["grows", "export const kept = 1 + 1 + 1;\nexport const more = 2;"],
    ["has a comment", "// About it.\nexport const kept = 1;"],
  ])("doesn't change beside a shared part that %s", (_, other) => {
    expect(unpadded(other, run).body).toBe(unpadded(kept, run).body);
    expect(unpadded(other, run).shared).not.toBe(unpadded(kept, run).shared);
  });

  it("doesn't change with the other half of a statement that is cut in two", () => {
    const source = "const run = async () => 1, kept = 2;\nexport { run, kept };\n";
    const grown = "const run = async () =>\n    1 + 1 + 1,   kept = 2;\nexport { run, kept };\n";
    const [before, after] = [
      split(source, { procedures: ["run"] }),
      split(grown, { procedures: ["run"] }),
    ];
    expect(before.shared?.unpadded).toContain("kept = 2");
    expect(after.shared?.unpadded).toBe(before.shared?.unpadded);
    expect(after.body?.unpadded).not.toBe(before.body?.unpadded);
  });

  it.each([
    ["a template", "  return `a\n  b`;", "  return `a\n    b`;"],
    ["a template's empty line", "  return `a\n\nb`;", "  return `a\nb`;"],
    [
      "a template inside a template",
      "  return `${true ? `a\n  b` : ``}`;",
      "  return `${true ? `a\n    b` : ``}`;",
    ],
    [
      "a template behind a backtick in a string",
      '  const tick = "`";\n  return `a\n  b`;',
      '  const tick = "`";\n  return `a\n    b`;',
    ],
    [
      "a template behind a backtick in a comment",
      "  // ` as it is\n  return `a\n  b`;",
      "  // ` as it is\n  return `a\n    b`;",
    ],
    [
      "a template behind a backtick in a regular expression",
      "  /`/.test('');\n  return `a\n  b`;",
      "  /`/.test('');\n  return `a\n    b`;",
    ],
    ["a string over two lines", '  return "a\\\n  b";', '  return "a\\\n    b";'],
    ["the text of an element", "  return <pre>a\n  b</pre>;", "  return <pre>a\n    b</pre>;"],
    [
      "an attribute of an element",
      '  return <p title="a\n  b" />;',
      '  return <p title="a\n    b" />;',
    ],
    ["a line's beginning", "  return 1;", "    return 1;"],
  ])("changes with white space in %s", (_, before, after) => {
    expect(unpadded(kept, after).body).not.toBe(unpadded(kept, before).body);
    const shared = (text: string): string => `export function kept() {\n${text}\n}`;
    expect(unpadded(shared(after), run).shared).not.toBe(unpadded(shared(before), run).shared);
  });

  it("changes when a name in it becomes a procedure", () => {
    const source = "export async function one() {}\nexport async function two() { await one(); }\n";
    const alone = split(source, { procedures: ["two"] });
    const both = split(source, { procedures: ["one", "two"], held: ["two"] });
    expect(both.body?.unpadded).not.toBe(alone.body?.unpadded);
  });
});
