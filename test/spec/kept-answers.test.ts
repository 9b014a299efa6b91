// Answers that caches may keep, in the four services that have calls.

import { describe, expect, it } from "vitest";

import type { Context } from "../../src/base/context.ts";
import type { Role } from "../../src/roles/pipeline/role.ts";
import { ask, type TestProcedure } from "../_cluster.ts";
import { kinds, serviceWith, type Kind } from "./_services.ts";
import { body, names } from "./_shop.ts";

type Act = (context: Context, value: unknown) => unknown;

const keep: Act = ({ response }) => response.headers.set("cache-control", "private, max-age=60");

const acts: Readonly<Record<string, Act>> = {
  kept: keep,
  checked: ({ response }) => response.headers.set("cache-control", "no-cache"),
  own(context) {
    keep(context, undefined);
    context.response.headers.set("etag", '"seven"');
  },
  plain: () => {},
  secret: ({ response }) => response.headers.set("cache-control", "no-store, private"),
  cookie(context) {
    keep(context, undefined);
    context.response.cookies.set("seen", "yes");
  },
  created(context) {
    keep(context, undefined);
    context.response.status = 201;
  },
  nothing(context) {
    keep(context, undefined);
    return undefined;
  },
  failing(context) {
    keep(context, undefined);
    throw new Error("no cloth");
  },
};

async function serviceOf(
  kind: Kind,
): Promise<{ role: Role; answers: { now: unknown }; runs: string[] }> {
  const answers = { now: { sku: "tweed", price: 12 } as unknown };
  const runs: string[] = [];
  const procedures: TestProcedure[] = Object.entries(acts).map(([name, act]) => ({
    fqn: `a/${name}`,
    parameters: names("sku"),
    in: { a: { access: "public", safe: true } },
    body: body(`a/${name}`, (context, _graph, value) => {
      runs.push(name);
      act(context, value);
      return name === "nothing" ? undefined : answers.now;
    }),
  }));
  return { ...(await serviceWith(kind, procedures)), answers, runs };
}

describe.each(kinds)("answers that a %s lets caches keep", (kind) => {
  const get = (role: Role, name: string, headers: Readonly<Record<string, string>> = {}) =>
    ask(role, "GET", `/rpc/a/${name}?sku=tweed`, headers);

  it("kept-1: the answer to a GET whose procedure sets cache-control has an etag of its content", async () => {
    const { role, answers } = await serviceOf(kind);
    const first = await get(role, "kept");
    expect(first).toMatchObject({
      status: 200,
      text: '{"sku":"tweed","price":12}',
      headers: {
        "cache-control": "private, max-age=60",
        etag: expect.stringMatching(/^W\/"[0-9a-f]{32}"$/) as string,
        vary: "accept, x-svc-data-encoding",
      },
    });
    const { etag } = first.headers;
    expect((await get(role, "kept")).headers["etag"]).toBe(etag);
    expect((await get(role, "checked")).headers["etag"]).toBe(etag);
    answers.now = { sku: "tweed", price: 13 };
    expect((await get(role, "kept")).headers["etag"]).not.toBe(etag);
  });

  it("kept-2: for a caller that has it, it is 304 without a body; the procedure has run", async () => {
    const { role, answers, runs } = await serviceOf(kind);
    const { etag = "" } = (await get(role, "kept")).headers;
    const known = String(etag);
    const matches = [known, known.slice(2), `"a", ${known}`, "*", `${known}\t,"b"`];
    for (const has of matches) {
      const again = await get(role, "kept", { "if-none-match": has });
      expect(again, has).toMatchObject({
        status: 304,
        text: "",
        headers: {
          etag,
          "cache-control": "private, max-age=60",
          vary: expect.anything() as string,
        },
      });
      for (const name of ["content-type", "content-length", "x-svc-data-type"])
        expect(again.headers, name).not.toHaveProperty(name);
    }
    expect(runs).toHaveLength(1 + matches.length);
    for (const other of ['"a"', known.toUpperCase(), known.replace(/"$/, ""), ""])
      expect((await get(role, "kept", { "if-none-match": other })).status, other).toBe(200);
    answers.now = "silk";
    expect(await get(role, "kept", { "if-none-match": known })).toMatchObject({
      status: 200,
      text: "silk",
    });
  });

  it("kept-3: an etag that the procedure sets stays, and counts", async () => {
    const { role } = await serviceOf(kind);
    expect((await get(role, "own")).headers["etag"]).toBe('"seven"');
    expect(await get(role, "own", { "if-none-match": 'W/"seven"' })).toMatchObject({
      status: 304,
      headers: { etag: '"seven"' },
    });
  });

  it("kept-4: an answer that may not be kept has no etag and is sent whole: with no-store, a cookie, another status, an error, no value, or to a POST", async () => {
    const { role } = await serviceOf(kind);
    for (const name of ["plain", "secret", "cookie", "created", "failing", "nothing"]) {
      const answer = await get(role, name, { "if-none-match": "*" });
      expect(answer.headers, name).not.toHaveProperty("etag");
      expect(answer.status, name).not.toBe(304);
    }
    const json = { "content-type": "application/json", "if-none-match": "*" };
    for (const method of ["POST", "QUERY"]) {
      const posted = await ask(role, method, "/rpc/a/kept", json, '{"sku":"tweed"}');
      expect(posted.status).toBe(200);
      expect(posted.headers).not.toHaveProperty("etag");
    }
  });
});
