// Calls by QUERY (RFC 10008), in the four services that have calls.

import { describe, expect, it } from "vitest";

import { CorsMiddleware } from "../../src/http/cors.ts";
import type { Role } from "../../src/roles/pipeline/role.ts";
import { ask, key, type TestDeployment, type TestProcedure } from "../_cluster.ts";
import { kinds, layer, serviceWith, type Kind } from "./_services.ts";
import { body, names } from "./_shop.ts";
import { gatewayWith } from "./_members.ts";

const json = { "content-type": "application/json" };
const safe = { access: "public", safe: true } as const;

async function serviceOf(
  kind: Kind,
): Promise<{ role: Role; ran: unknown[][]; local: TestDeployment }> {
  const ran: unknown[][] = [];
  const note = (name: string): TestProcedure["body"] =>
    body(name, (_, _graph, ...args: unknown[]) => {
      ran.push(args);
      return args[0] ?? "ran";
    });
  const procedures: TestProcedure[] = [
    { fqn: "a/find", parameters: names("value"), in: { a: safe }, body: note("a/find") },
    { fqn: "a/find", version: "2.0.0", in: { a: safe }, body: note("a/find") },
    { fqn: "a/all", in: { a: safe }, body: note("a/all") },
    { fqn: "a/change", parameters: names("value"), in: { a: "public" }, body: note("a/change") },
    { fqn: "a/repeat", in: { a: { access: "public", idempotent: true } }, body: note("a/repeat") },
    { fqn: "a/secret", in: { a: { access: "private", safe: true } }, body: note("a/secret") },
    { fqn: "a/guarded", in: { a: { access: "protected", safe: true } }, body: note("a/guarded") },
    {
      fqn: "a/rows",
      stream: true,
      parameters: names("count"),
      in: { a: safe },
      body: () =>
        async function* (count: number) {
          for (let row = 1; row <= count; row++) yield row;
        } as never,
    },
  ];
  return { ...(await serviceWith(kind, procedures)), ran };
}

describe.each(kinds)("QUERY at a %s", (kind) => {
  const query = (
    role: Role,
    target: string,
    args: unknown = {},
    headers: Readonly<Record<string, string>> = json,
  ) => ask(role, "QUERY", target, headers, typeof args === "string" ? args : JSON.stringify(args));

  it("query-1: a QUERY calls a safe procedure with the arguments of its JSON body, as a POST does", async () => {
    const { role, ran } = await serviceOf(kind);
    expect(await query(role, "/rpc/a/find", { value: "tweed" })).toMatchObject({
      status: 200,
      text: "tweed",
      headers: { "cache-control": "no-store", vary: "accept, x-svc-data-encoding" },
    });
    expect((await query(role, "/rpc/a/all", "")).text).toBe("ran");
    expect((await query(role, "/rpc/a/find@2")).text).toBe("ran");
    expect((await query(role, "/rpc/a/find?version=2")).text).toBe("ran");
    const serialized = { ...json, "x-svc-data-encoding": "serialized" };
    const date = { serialized: true, name: "Date", value: "1970-01-01T00:00:00.000Z" };
    expect((await query(role, "/rpc/a/find", { value: date }, serialized)).text).toBe(
      JSON.stringify(date),
    );
    expect(ran).toEqual([["tweed"], [], [], [], [new Date(0)]]);
  });

  it("query-2: its answers and refusals are those of a POST, as JSON too", async () => {
    const { role } = await serviceOf(kind);
    const accept = { ...json, accept: "application/json" };
    for (const [args, headers] of [
      [{}, json],
      [{ value: 1, more: 2 }, json],
      ["[1]", json],
      ['{"value":', json],
      [{ value: "tweed" }, accept],
      [{ more: 1 }, accept],
    ] as const) {
      const { status, text } = await query(role, "/rpc/a/find", args, headers);
      const posted = typeof args === "string" ? args : JSON.stringify(args);
      expect(await ask(role, "POST", "/rpc/a/find", headers, posted)).toMatchObject({
        status,
        text,
      });
    }
  });

  it("query-3: a procedure that isn't safe answers 405, lists the allowed methods, and doesn't run", async () => {
    const { role, ran } = await serviceOf(kind);
    for (const name of ["change", "repeat"])
      for (const headers of [json, {}, { "content-type": "text/plain" }])
        expect(await query(role, `/rpc/a/${name}`, { value: 1 }, headers)).toMatchObject({
          status: 405,
          text: `'a/${name}' answers QUERY only with "safe" in its segment entry: use POST`,
          headers: { allow: "GET, POST", "x-svc-error": "MethodNotAllowed" },
        });
    expect(ran).toEqual([]);
  });

  it("query-4: a private procedure answers as an unknown one, and a protected one needs the trust key", async () => {
    const { role, ran } = await serviceOf(kind);
    const unknown = await query(role, "/rpc/a/nothing");
    const { status, headers, text } = await query(role, "/rpc/a/secret");
    expect([status, headers, text.replace("secret", "nothing")]).toEqual([
      404,
      unknown.headers,
      unknown.text,
    ]);
    expect((await query(role, "/rpc/a/guarded")).status).toBe(401);
    expect(ran).toEqual([]);
    const trusted = { ...json, "x-svc-trust-key": key };
    expect((await query(role, "/rpc/a/guarded", {}, trusted)).text).toBe("ran");
  });

  it("query-5: a body of another type is 415, and a QUERY without a content type is 400", async () => {
    const { role, ran } = await serviceOf(kind);
    for (const type of [
      "text/plain",
      "application/x-www-form-urlencoded",
      "multipart/form-data; boundary=x",
      "application/jsonl",
    ])
      expect(await query(role, "/rpc/a/all", "x=1", { "content-type": type })).toMatchObject({
        status: 415,
        text: "The body of a QUERY must have the content type application/json",
      });
    for (const args of ["{}", ""])
      expect(await query(role, "/rpc/a/all", args, {})).toMatchObject({
        status: 400,
        text: "A QUERY must say its content type: application/json",
      });
    expect(ran).toEqual([]);
    const type = "application/json; charset=utf-8";
    expect((await query(role, "/rpc/a/all", "{}", { "content-type": type })).status).toBe(200);
  });

  it("query-6: a page of another origin can't send a QUERY without a preflight, so none is refused for its origin", async () => {
    const { role, ran } = await serviceOf(kind);
    const foreign = { ...json, origin: "https://evil.example", "sec-fetch-site": "cross-site" };
    expect((await query(role, "/rpc/a/all", {}, foreign)).status).toBe(200);
    expect((await query(role, "/rpc/a/change", { value: 1 }, foreign)).status).toBe(405);
    expect(ran).toHaveLength(1);
    const preflight = { origin: "https://evil.example", "access-control-request-method": "QUERY" };
    const refused = await ask(role, "OPTIONS", "/rpc/a/all", preflight);
    expect(refused).toMatchObject({ status: 204, headers: { allow: "GET, POST, QUERY" } });
    expect(refused.headers).not.toHaveProperty("access-control-allow-methods");
    role.addMiddleware(new CorsMiddleware("https://shop.example"));
    expect((await ask(role, "OPTIONS", "/rpc/a/all", preflight)).headers).toMatchObject({
      "access-control-allow-methods": "GET, POST, QUERY",
    });
  });

  it("query-7: a stream that is safe answers a QUERY with its items", async () => {
    const { role } = await serviceOf(kind);
    const headers = { ...json, accept: "text/event-stream" };
    const { status, text } = await query(role, "/rpc/a/rows", { count: 2 }, headers);
    expect(status).toBe(200);
    expect(text).toContain("id: 1\ndata: 1\n\nid: 2\ndata: 2\n\nevent: end");
  });

  it("middleware may change the arguments of a QUERY, which stays one (query-3)", async () => {
    const { role, ran } = await serviceOf(kind);
    role.addMiddleware(
      layer(async (_fqn, _version, args, _headers, next) => {
        args.set("value", "changed");
        return await next();
      }),
    );
    expect((await query(role, "/rpc/a/find", { value: "tweed" })).text).toBe("changed");
    expect((await query(role, "/rpc/a/change", { value: "tweed" })).status).toBe(405);
    expect(ran).toEqual([["changed"]]);
  });
});

it("query-8: a QUERY without an answer is sent to another member, once, as a call of a safe procedure is", async () => {
  const { gateway, members } = await gatewayWith(["a", "b"]);
  members[0]!.behave = () => "break";
  const answer = await ask(gateway, "QUERY", "/rpc/shop/stock", json, '{"sku":"a"}');
  expect([answer.status, answer.text]).toEqual([200, "b"]);
  expect(members[1]!.calls).toMatchObject([{ method: "QUERY" }]);
});
