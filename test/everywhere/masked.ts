// Errors that aren't meant for callers. Development shows them all the same.

import { expect, it } from "vitest";

import type { Suite } from "./_modes.ts";

const secret = "s3cret";

export const masked: Suite = {
  title: "masked errors",
  configuration: { errors: "masked" },
  files: {
    "segments/masked.segment.json":
      '{ "./masked/outer": { "leak": { "access": "public" }, "decline": { "access": "public" } } }\n',
    "segments/masked-inner.segment.json":
      '{ "./masked/inner": { "fail": { "access": "protected" } } }\n',
    "src/masked/declined.ts": `export class Declined extends Error {
  override readonly name = "Declined";
  constructor(message: string, readonly by: string) { super(message); }
}
`,
    "src/masked/outer.ts": `import { fail } from "./inner.ts";
export async function leak(): Promise<void> { await fail(false); }
export async function decline(): Promise<void> { await fail(true); }
`,
    "src/masked/inner.ts": `import { Declined } from "./declined.ts";
class HiddenFailure extends Error {}
export async function fail(declined: boolean): Promise<void> {
  const cause = new HiddenFailure("${secret}");
  throw declined ? Object.assign(new Declined("Not today", "the bank"), { cause }) : new HiddenFailure("${secret}", { cause });
}
`,
  },
  tests(mode) {
    const isShown = (): boolean => ["dev", "vite"].includes(mode().name);
    const ask = async (name: string, headers = {}): Promise<[Response, string]> => {
      const answer = await mode().request(`/rpc/masked/${name}`, { headers });
      return [answer, await answer.text()];
    };
    const serialized = { "x-svc-data-encoding": "serialized" };

    it("an error that isn't meant for callers reads as an id, except in development", async () => {
      for (const headers of [{}, serialized]) {
        const [answer, text] = await ask("leak", headers);
        expect(answer.status).toBe(500);
        if (isShown()) expect(text).toContain(secret);
        else {
          expect(text).toMatch(/Internal error \([0-9a-f]{16}\)/);
          expect(text + JSON.stringify([...answer.headers])).not.toMatch(/s3cret|Hidden|fail |v0/);
        }
      }
    });

    it("an error of an exported class keeps class and message, and its cause is masked", async () => {
      const [, plain] = await ask("decline");
      expect(plain).toContain("Not today");
      const [, text] = await ask("decline", serialized);
      expect(JSON.parse(text)).toMatchObject({
        key: "masked/Declined",
        message: "Not today",
        args: { 1: "the bank" },
        cause: { message: isShown() ? secret : expect.stringMatching(/^Internal error \(/) },
      });
    });
  },
};
