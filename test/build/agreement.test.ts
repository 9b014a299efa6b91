// Entries of one function in several segments: in what they must agree.

import { describe, expect, it } from "vitest";

import type { Application } from "../../server/compile/cut/application.ts";
import { createFixture } from "./_fixture.ts";
import { readAt } from "./_reading.ts";

const order =
  "export async function* order(): AsyncGenerator<string> {\n  yield getContext().lastEventId;\n}\n";

const auth = "export async function signedIn(): Promise<void> {}\nexport default signedIn;\n";

/** An application whose function is in segments with these entries. */
async function entries(...fields: readonly object[]): Promise<Application> {
  const files = Object.fromEntries(
    fields.map((entry, at) => [
      `segments/${"abc"[at]}.segment.json`,
      JSON.stringify({ "./shop/order": { order: entry } }),
    ]),
  );
  return await readAt(
    createFixture({ "src/shop/order.ts": order, "src/auth.ts": auth, ...files }).root,
  );
}

describe("entries of one function", () => {
  it.each([
    ["safe", { safe: true }, '"safe": true'],
    ["idempotent", { idempotent: true }, '"idempotent": true'],
    ["resume", { resume: true }, '"resume": true'],
    ["guard", { guard: "./auth#signedIn" }, '"guard": "auth#signedIn"'],
    ["validate", { validate: false }, '"validate": false'],
    ["extra", { extra: "keep" }, '"extra": "keep"'],
  ])(
    "that disagree in %s are a problem that names both, whichever node would answer",
    async (key, fields, here) => {
      const { problems } = await entries({ access: "public" }, { access: "public", ...fields });
      expect(problems).toMatchObject([
        {
          file: "segments/b.segment.json",
          path: '$["./shop/order"].order',
          message: `the function "order" of src/shop/order.ts has ${here} here, and no "${key}" in segments/a.segment.json at $["./shop/order"].order`,
          hint: expect.stringContaining(`the same "${key}"`),
        },
      ]);
    },
  );

  it("of which one is protected must agree, and a private one has no say", async () => {
    const open = { access: "public", safe: true };
    expect((await entries(open, { access: "protected" })).problems).toHaveLength(1);
    expect((await entries({ access: "private" }, open)).problems).toEqual([]);
    expect(
      (await entries({ access: "private" }, { access: "protected" }, open)).problems,
    ).toMatchObject([
      {
        file: "segments/c.segment.json",
        message: expect.stringContaining("segments/b.segment.json"),
      },
    ]);
  });

  it("agree if they write one guard in several ways, or one takes it off and another never had it", async () => {
    const guarded = (guard: unknown) => ({ access: "public", guard });
    const written = ["./auth#signedIn", "./auth.ts#signedIn", "./auth"].map(guarded);
    expect((await entries(...written)).problems).toEqual([]);
    expect((await entries(guarded(false), { access: "public" })).problems).toEqual([]);
    expect((await entries(guarded(false), guarded("./auth"))).problems).toHaveLength(1);
  });

  it("agree if one says what is the default, or what follows from safe or resume", async () => {
    const spoken = await entries(
      { access: "public" },
      { access: "public", safe: false, idempotent: false, validate: true, extra: "drop" },
    );
    expect(spoken.problems).toEqual([]);
    const safe = { access: "public", safe: true };
    expect((await entries(safe, { ...safe, idempotent: true })).problems).toEqual([]);
    const resume = { access: "public", resume: true };
    expect((await entries(resume, { ...resume, idempotent: true })).problems).toEqual([]);
  });
});
