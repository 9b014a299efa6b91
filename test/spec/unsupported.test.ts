// Unsupported features are refused with a message.

import { describe, expect, it } from "vitest";

import { createFixture } from "../build/_fixture.ts";
import { useKinds } from "./_kinds.ts";

const { post } = useKinds();

describe("limits", () => {
  it.each([
    "export function a(): number {\n  return 1;\n}\n",
    "export const a = (): number => 1;\n",
    "export function a(): Promise<number> {\n  return Promise.resolve(1);\n}\n",
  ])("limits-3: a procedure must be async to be split: %j", async (code) => {
    const app = createFixture({
      "src/a.ts": code,
      "a.segment.json": '{ "./a": { "a": { "access": "public" } } }',
    });
    expect(await app.problems()).toMatchObject([
      { file: "src/a.ts", line: 1, message: expect.stringContaining("async") },
    ]);
  });

  it("limits-4: a POST's body must be a JSON object", async () => {
    for (const body of ["[]", "[{}]", "null", "0", "true", '"{}"'])
      expect(await post("none", body), body).toMatchObject({
        status: 400,
        text: "The body must be a JSON object",
      });
  });
});
