// The table of calls: the second encoding, in which superjson's `{json, meta}` is every body and every answer (decisions §3).

import {
  type CallCase,
  type ClientCall,
  every,
  get,
  type HttpAnswer,
  type HttpCall,
  post,
  string,
} from "./_call.ts";

const asked = { "x-svc-data-encoding": "superjson" };
const ofAll = { ...every, "content-type": "application/json", ...asked };
const answer = (kind: string, json: unknown, meta?: object): HttpAnswer => ({
  status: 200,
  headers: { ...ofAll, "x-svc-data-type": kind },
  body: JSON.stringify({ json, ...(meta && { meta: { v: 1, ...meta } }) }),
});
const one = (
  title: string,
  http: HttpCall,
  expected: HttpAnswer,
  client?: ClientCall,
): CallCase => ({
  ids: "D3.superjson",
  title: `superjson: ${title}`,
  http,
  answer: expected,
  ...(client && { client }),
});
const result = (of: string, kind: string, json: unknown, meta?: object): CallCase =>
  one(
    `a result, ${of}`,
    get(`calls/result?of=${encodeURIComponent(of)}`, asked),
    answer(kind, json, meta),
  );
const closed: { a: unknown[] } = { a: [] };
closed.a.push(closed);
const body = (json: object, meta?: object): string =>
  JSON.stringify({ json, ...(meta && { meta }) });

/** Calls in superjson, and what of it is refused. */
export const superjsonCalls: readonly CallCase[] = [
  result("text", "string", "t\u00e4xt \u{1f9f5}"),
  result("number", "number", -12.5),
  result("minus zero", "number", "-0", { values: ["number"] }),
  result("bigint", "bigint", "1180591620717411303424", { values: ["bigint"] }),
  result("undefined", "undefined", null, { values: ["undefined"] }),
  result("null", "null", null),
  result("object", "object", { a: { b: [true] }, c: null }, { values: { c: ["undefined"] } }),
  result("date", "object", "1970-01-01T00:00:00.000Z", { values: ["Date"] }),
  result("cycle", "object", { a: [null] }, { referentialEqualities: [["a.0"]] }),
  result(
    "private",
    "object",
    { args: { 0: "Ada", 1: null }, fields: { email: null } },
    {
      values: [
        ["class", "people/Person"],
        { "args.1": ["undefined"], "fields.email": ["undefined"] },
      ],
    },
  ),
  result(
    "file",
    "object",
    {
      type: "File",
      mediaType: "text/html",
      fileName: "ä '1'.html",
      lastModified: 5,
      base64: "PGI+aGk8L2I+",
    },
    { values: [["custom", "Binary"]] },
  ),
  one(
    "a bigint as an argument",
    post("calls/kindOf", body({ value: "1" }, { values: { value: ["bigint"] } }), asked),
    answer("string", "bigint"),
  ),
  one(
    "no meta",
    post("calls/plain", body({ first: 1, second: "b" }), asked),
    answer("object", [1, "b"]),
  ),
  one(
    "an unknown annotation",
    post("calls/kindOf", body({ value: 1 }, { values: { value: ["nonsense"] } }), asked),
    {
      status: 400,
      headers: { ...ofAll, "x-svc-error": "InvalidSerializedValue" },
      body: JSON.stringify({
        json: {
          name: "InvalidSerializedValue",
          message: 'args.value: there is no annotation "nonsense"',
          trace: [],
          fields: {},
        },
        meta: { v: 1, values: ["Error"] },
      }),
    },
  ),
  {
    ids: "D3.superjson",
    title: "superjson: a cycle as an argument of a client",
    client: { fqn: "calls/closes", args: { value: closed }, value: true },
  },
  one("a plain caller is not asked for it", get("calls/none"), string("ran")),
];
