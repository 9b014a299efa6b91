import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { describe, expect, it, onTestFinished } from "vitest";

import { overlayError } from "../../../server/dev/overlay.ts";
import { frameOf } from "../../../src/split/read/code-frame.ts";

function application(): string {
  const root = mkdtempSync(join(tmpdir(), "seamline-overlay-"));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  mkdirSync(join(root, "src"));
  writeFileSync(join(root, "src/a.ts"), "");
  writeFileSync(join(root, "src/b.ts"), "");
  return root;
}

const source = Array.from({ length: 12 }, (_, index) => `line${index + 1}();`).join("\n");

describe("the error that Vite's client shows over a page", () => {
  it("has absolute paths, which the client turns into links to the editor", () => {
    const root = application();
    const { err } = overlayError(
      [
        { file: "src/a.ts", line: 3, column: 7, message: "wrong" },
        { file: "src/b.ts", line: 5, column: 1, message: "wrong too" },
      ],
      root,
    );
    expect(err.id).toBe(join(root, "src/a.ts"));
    expect(err.loc).toEqual({ file: join(root, "src/a.ts"), line: 3, column: 7 });
    expect(err.stack).toContain(`${join(root, "src/b.ts")}:5:1: wrong too`);
  });

  it("keeps a name that isn't a file of the application", () => {
    const { err } = overlayError(
      [{ file: "*.segment.json", message: "no segment file" }],
      application(),
    );
    expect(err.id).toBe("*.segment.json");
    expect(err.loc).toBeUndefined();
  });

  it.each([1, 2, 5, 9, 10, 12])(
    "keeps the lines of the frame aligned after the client trims it: line %i",
    (line) => {
      const root = application();
      const { err } = overlayError(
        [{ file: "src/a.ts", line, column: 4, message: "wrong", frame: frameOf(source, line, 4) }],
        root,
      );
      const lines = (err.frame ?? "").trim().split("\n");
      expect(new Set(lines.map((text) => text.indexOf("|"))).size).toBe(1);
      expect(lines).toContainEqual(
        expect.stringMatching(new RegExp(`^> +${line} \\| line${line}\\(\\);$`)),
      );
      expect(lines[lines.findIndex((text) => text.startsWith(">")) + 1]).toMatch(/^ +\|    \^$/);
      expect(
        lines.filter((text) => !/^(?:> +)?\d+ +\| line\d+\(\);$|^ +\|    \^$/.test(text)),
      ).toEqual([]);
    },
  );

  it("doesn't change the frame of another tool", () => {
    const frame = "   ╭─[ src/a.ts:1:1 ]\n   │\n 1 │ wrong";
    expect(
      overlayError([{ file: "src/a.ts", message: "wrong", frame }], application()).err.frame,
    ).toBe(frame);
  });

  it("has the path in a segment file and the hint", () => {
    const { err } = overlayError(
      [{ file: "a.json", path: "./x.y", message: "wrong", hint: "Mend it." }],
      application(),
    );
    expect(err.message).toBe("at ./x.y: wrong\n→ Mend it.");
  });
});
