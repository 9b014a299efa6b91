// The table of calls: the second encoding, in which superjson's `{json, meta}` is every body and
// every answer.

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

const encoding = { "x-svc-data-encoding": "superjson" };
const ofAll = { ...every, "content-type": "application/json", ...encoding };
const answer = (kind: string, json: unknown, meta?: object): HttpAnswer => ({
  status: 200,
  headers: { ...ofAll, "x-svc-data-type": kind },
  body: JSON.stringify({ json, ...(meta && { meta: { v: 1, ...meta } }) }),
});
const superjsonCase = (
  title: string,
  http: HttpCall,
  expected: HttpAnswer,
  client?: ClientCall,
): CallCase => ({
  ids: "superjson",
  title: `superjson: ${title}`,
  http,
  answer: expected,
  ...(client && { client }),
});
const result = (name: string, kind: string, json: unknown, meta?: object): CallCase =>
  superjsonCase(
    `a result is sent: ${name}`,
    get(`calls/result?of=${encodeURIComponent(name)}`, encoding),
    answer(kind, json, meta),
  );
const closed: { a: unknown[] } = { a: [] };
closed.a.push(closed);
const body = (json: object, meta?: object): string =>
  JSON.stringify({ json, ...(meta && { meta }) });

/** Calls in superjson, valid and refused. */
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
  superjsonCase(
    "a bigint is read as an argument",
    post("calls/kindOf", body({ value: "1" }, { values: { value: ["bigint"] } }), encoding),
    answer("string", "bigint"),
  ),
  superjsonCase(
    "a message without meta is read",
    post("calls/plain", body({ first: 1, second: "b" }), encoding),
    answer("object", [1, "b"]),
  ),
  superjsonCase(
    "an unknown annotation is refused",
    post("calls/kindOf", body({ value: 1 }, { values: { value: ["nonsense"] } }), encoding),
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
    ids: "superjson",
    title: "superjson: a client sends an argument with a cycle",
    client: { fqn: "calls/closes", args: { value: closed }, value: true },
  },
  superjsonCase(
    "a caller that doesn't accept superjson gets a plain answer",
    get("calls/none"),
    string("ran"),
  ),
];
