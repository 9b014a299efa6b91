// The options of a segment file's entry for calls of a procedure: how long one may take, and whether it
// may be sent again.

import { describe, expect, it } from "vitest";

import { parseSegment } from "../../src/runtime/segment.ts";
import { ask, TestDeployment, testModules, type TestProcedure } from "../_cluster.ts";
import { body } from "./_shop.ts";

describe("timeoutMs of a procedure", () => {
  const never = (seen: AbortSignal[] = []): TestProcedure["body"] =>
    body("never", async ({ signal }) => {
      seen.push(signal);
      return await new Promise(() => {});
    });

  it("segments-28: a call that takes longer than its procedure's timeoutMs is 504, and its signal aborts", async () => {
    const seen: AbortSignal[] = [];
    const local = new TestDeployment();
    const role = await local.standalone({
      modules: testModules([
        { fqn: "never", in: { a: { access: "public", timeoutMs: 500 } }, body: never(seen) },
      ]),
    });
    const answer = ask(role, "GET", "/rpc/never");
    await local.clock.pass(499);
    expect(seen.map(({ aborted }) => aborted)).toEqual([false]);
    await local.clock.pass(1);
    expect(await answer).toMatchObject({
      status: 504,
      headers: { "x-svc-error": "DeadlineExceeded" },
      text: "'never' did not answer within its 500 ms",
    });
    expect(seen.map(({ aborted }) => aborted)).toEqual([true]);
  });

  it("timeoutMs only shortens the time that a call has (segments-28)", async () => {
    const local = new TestDeployment();
    const role = await local.standalone({
      modules: testModules([
        { fqn: "never", in: { a: { access: "public", timeoutMs: 60_000 } }, body: never() },
      ]),
    });
    const answer = ask(role, "GET", "/rpc/never");
    await local.clock.pass(30_000);
    expect(await answer).toMatchObject({ status: 504, text: "Deadline exceeded" });
  });

  it("a procedure of two segments has the longer time, and none if one of them gives none (segments-28)", async () => {
    const both = (fqn: string, ...times: readonly (number | undefined)[]): TestProcedure => ({
      fqn,
      in: Object.fromEntries(
        times.map((timeoutMs, index) => [
          `s${index}`,
          { access: "public" as const, ...(timeoutMs !== undefined && { timeoutMs }) },
        ]),
      ),
      body: body(fqn, async () => await new Promise(() => {})),
    });
    const local = new TestDeployment();
    const role = await local.standalone({
      modules: testModules([
        both("longer", 100, 500),
        both("first", undefined, 100),
        both("last", 100, undefined),
      ]),
    });
    const answers = ["longer", "first", "last"].map(async (fqn) => {
      const began = local.clock.now();
      await ask(role, "GET", `/rpc/${fqn}`);
      return local.clock.now() - began;
    });
    await local.clock.pass(30_000);
    expect(await Promise.all(answers)).toEqual([500, 30_000, 30_000]);
  });

  it.each([0, -1, 1.5, 86_400_001, "5 s", null, Infinity])(
    "timeoutMs is a whole number of milliseconds, a day at most: %j (segments-6)",
    (timeoutMs) => {
      const text = JSON.stringify({ "./a": { a: { access: "public", timeoutMs } } });
      expect(parseSegment(text, "a.segment.json").problems).toMatchObject([
        {
          path: expect.stringMatching(/\.timeoutMs$/) as unknown,
          message: expect.stringMatching(
            /^expected a whole number of milliseconds from 1 to 86400000, found /,
          ) as unknown,
        },
      ]);
    },
  );
});

describe("idempotent procedures of a node", () => {
  it("segments-29: a node tells its gateway which procedures may be sent again: those of which every version is idempotent or safe", async () => {
    const versions: Readonly<Record<string, readonly object[]>> = {
      idempotent: [{ idempotent: true }],
      safe: [{ safe: true }],
      plain: [{}],
      both: [{ idempotent: true }, { safe: true }],
      mixed: [{ idempotent: true }, {}],
      hidden: [{ idempotent: true, access: "private" }],
    };
    const modules = testModules(
      Object.entries(versions).flatMap(([fqn, entries]) =>
        entries.map((fields, index): TestProcedure => ({
          fqn,
          version: `${index}.0.0`,
          in: { a: { access: "public", ...fields } },
          body: body(fqn, () => "ran"),
        })),
      ),
    );
    const local = new TestDeployment();
    await local.gateway();
    await local.node("a", { modules, segments: ["a"] });
    const joined = local.network.sent.find(
      ({ method, url }) => method === "POST" && url.endsWith("/nodes"),
    );
    expect(JSON.parse(joined?.body ?? "")).toMatchObject({
      procedures: ["idempotent", "safe", "plain", "both", "mixed"],
      idempotent: ["idempotent", "safe", "both"],
    });
  });
});
