// The table of calls, last part: each kind of result, plain and in the serialized form, each class
// of error, and every wire case.

import {
  bytes,
  type CallCase,
  type ClientCall,
  encoded,
  failed,
  form,
  get,
  type HttpAnswer,
  nil,
  nothing,
  object,
  post,
  refused,
  scalar,
  string,
  withHeaders,
} from "./_call.ts";
import { wireCases } from "./_wire-cases.ts";
import { Person } from "./_wire-classes.ts";

const result = (
  ids: string,
  name: string,
  plain: HttpAnswer,
  serialized: HttpAnswer = plain,
  client?: ClientCall,
): CallCase[] => {
  const path = `calls/result?of=${encodeURIComponent(name)}`;
  return [
    {
      ids: `${ids} get-5`,
      title: `a result is sent plain: ${name}`,
      http: get(path),
      answer: plain,
    },
    {
      ids,
      title: `a result is sent serialized: ${name}`,
      http: get(path, encoded),
      answer: serialized,
      ...(client && { client }),
    },
  ];
};
const value = (name: string, expected: unknown): ClientCall => ({
  fqn: "calls/result",
  args: { of: name },
  value: expected,
});
const refusal = (name: string, message: string): ClientCall => ({
  fqn: "calls/result",
  args: { of: name },
  error: { name: "ValueNotSerializable", message, trace: [ofResult] },
});
const ofResult = "[calls/result | v0.0.0]";
const unsent = (message: string): HttpAnswer =>
  refused(500, "ValueNotSerializable", message, ofResult);
const unsentForm = (message: string): HttpAnswer => ({
  ...unsent(message),
  headers: { ...unsent(message).headers, "content-type": "application/json" },
  body: JSON.stringify(
    form("Error", { type: "ValueNotSerializable", message, trace: [ofResult], fields: {} }),
  ),
});
const date = form("Date", { value: "1970-01-01T00:00:00.000Z" });
const binary = (type: string): HttpAnswer => object(form("Binary", { type, base64: "AP8B" }));

const results: readonly CallCase[] = [
  ...result(
    "responses-1",
    "text",
    string("täxt \u{1f9f5}"),
    undefined,
    value("text", "täxt \u{1f9f5}"),
  ),
  ...result("responses-1", "empty text", string(""), undefined, value("empty text", "")),
  ...result(
    "responses-1",
    "json text",
    string('{"a":1}'),
    undefined,
    value("json text", '{"a":1}'),
  ),
  ...result("responses-2", "number", scalar("number", "-12.5"), undefined, value("number", -12.5)),
  ...result(
    "responses-2 plain",
    "minus zero",
    scalar("number", "-0"),
    undefined,
    value("minus zero", -0),
  ),
  ...result(
    "responses-2 plain",
    "NaN",
    scalar("number", "NaN"),
    undefined,
    value("NaN", Number.NaN),
  ),
  ...result(
    "responses-2 plain",
    "Infinity",
    scalar("number", "Infinity"),
    undefined,
    value("Infinity", Infinity),
  ),
  ...result("responses-2", "true", scalar("boolean", "true"), undefined, value("true", true)),
  ...result(
    "responses-2",
    "bigint",
    scalar("bigint", "1180591620717411303424"),
    undefined,
    value("bigint", 2n ** 70n),
  ),
  ...result("responses-3", "undefined", nothing, undefined, value("undefined", undefined)),
  ...result("responses-4", "null", nil, undefined, value("null", null)),
  ...result(
    "responses-5",
    "array",
    object([1, [2, "b", null, null]]),
    object([1, [2, "b", null, form("Undefined")]]),
    value("array", [1, [2, "b", null, undefined]]),
  ),
  ...result("responses-5 get-9", "empty object", object({}), undefined, value("empty object", {})),
  ...result(
    "responses-5 get-6 get-9",
    "object",
    object({ a: { b: [true] } }),
    undefined,
    value("object", { a: { b: [true] } }),
  ),
  ...result(
    "plain responses-8",
    "date",
    object("1970-01-01T00:00:00.000Z"),
    object(date),
    value("date", new Date(0)),
  ),
  ...result(
    "get-7 get-8 responses-5",
    "person",
    object({ born: "1970-01-01T00:00:00.000Z" }),
    object({
      serialized: true,
      key: "people/Person",
      name: "class",
      args: { 0: "Ada", 1: date },
      fields: { email: form("Undefined") },
    }),
    value("person", new Person("Ada", new Date(0))),
  ),
  ...result(
    "get-8 responses-5",
    "private",
    object({}),
    object({
      serialized: true,
      key: "people/Person",
      name: "class",
      args: { 0: "Ada", 1: form("Undefined") },
      fields: { email: form("Undefined") },
    }),
    value("private", new Person("Ada")),
  ),
  ...result(
    "get-8",
    "reel",
    object({ metres: 12 }),
    object({
      serialized: true,
      key: "calls/Reel",
      name: "class",
      args: {},
      fields: { metres: 12 },
    }),
  ),
  ...result(
    "responses-6",
    "bytes",
    bytes("application/octet-stream", "\u0000\ufffd\u0001"),
    binary("Uint8Array"),
    value("bytes", new Uint8Array([0, 255, 1])),
  ),
  ...result(
    "responses-6",
    "buffer",
    bytes("application/octet-stream", "\u0000\ufffd\u0001"),
    binary("ArrayBuffer"),
    value("buffer", new Uint8Array([0, 255, 1]).buffer),
  ),
  ...result(
    "responses-6",
    "view",
    bytes("application/octet-stream", "\u0000\ufffd\u0001"),
    binary("DataView"),
  ),
  ...result(
    "responses-7 plain",
    "blob",
    withHeaders(bytes("image/x-thread", "\u0000\ufffd\u0001"), {
      "content-disposition": "attachment",
    }),
    object(form("Binary", { type: "Blob", mediaType: "image/x-thread", base64: "AP8B" })),
  ),
  ...result(
    "responses-7 plain",
    "plain blob",
    bytes("application/octet-stream", "thread"),
    object(form("Binary", { type: "Blob", mediaType: "", base64: "dGhyZWFk" })),
  ),
  ...result(
    "responses-7 plain",
    "page",
    withHeaders(bytes("text/html;charset=utf-8", "<b>hi</b>"), {
      "content-disposition": "attachment",
    }),
    object(
      form("Binary", {
        type: "Blob",
        mediaType: "text/html;charset=utf-8",
        base64: "PGI+aGk8L2I+",
      }),
    ),
  ),
  ...result(
    "responses-7",
    "file",
    withHeaders(bytes("text/html", "<b>hi</b>"), {
      "content-disposition": "attachment; filename*=UTF-8''%C3%A4%20%271%27.html",
    }),
    object(
      form("Binary", {
        type: "File",
        mediaType: "text/html",
        fileName: "ä '1'.html",
        lastModified: 5,
        base64: "PGI+aGk8L2I+",
      }),
    ),
    value("file", new File(["<b>hi</b>"], "ä '1'.html", { type: "text/html", lastModified: 5 })),
  ),
  ...(
    [
      ["function", "result.people[3].born: a function can't be sent"],
      ["symbol", "result: a symbol can't be sent"],
    ] as const
  ).flatMap(([name, message]) =>
    result("responses-9", name, unsent(message), unsentForm(message), refusal(name, message)),
  ),
  {
    ids: "responses-9",
    title: "a cycle is refused in a plain answer",
    http: get("calls/result?of=cycle"),
    answer: unsent("result.a[0]: a cycle can't be sent"),
  },
  {
    ids: "responses-10",
    title: "a call works after a result that couldn't be sent",
    http: get("calls/none"),
    answer: string("ran"),
  },
];

const line = "[calls/thrown | v0.0.0]";
const throwing = (
  ids: string,
  what: string,
  answer: HttpAnswer,
  error: ClientCall["error"],
): CallCase => ({
  ids,
  title: `a thrown value arrives: ${what}`,
  http: get(`calls/thrown?what=${what}`),
  answer,
  client: { fqn: "calls/thrown", args: { what }, ...(error && { error }) },
});
const classes: readonly (readonly [name: string, status: number])[] = [
  ["BadRequest", 400],
  ["Unauthorized", 401],
  ["PaymentRequired", 402],
  ["Forbidden", 403],
  ["NotFound", 404],
  ["ProcedureNotFound", 404],
  ["FileNotFound", 404],
  ["SegmentNotFound", 404],
  ["MethodNotAllowed", 405],
  ["RequestTimeout", 408],
  ["PayloadTooLarge", 413],
  ["UnsupportedEncoding", 415],
  ["MisdirectedRequest", 421],
  ["TooManyStreams", 429],
  ["RequestHeaderFieldsTooLarge", 431],
  ["MissingParameterValue", 400],
  ["UnknownParameter", 400],
  ["InvalidParameterValue", 400],
  ["InvalidVersionNumber", 400],
  ["InvalidSerializedValue", 400],
  ["ValueNotSerializable", 500],
  ["NotImplemented", 501],
  ["BadGateway", 502],
  ["DeadlineExceeded", 504],
  ["LoopDetected", 508],
];

const errors: readonly CallCase[] = [
  ...classes.map(([name, status]): CallCase => {
    const answer = refused(status, name, `by ${name}`, "[wire/fail | v0.0.0]");
    return {
      ids: "errors",
      title: `a thrown error has its status: ${name}`,
      http: get(`wire/fail?name=${name}`),
      answer:
        name === "MethodNotAllowed"
          ? { ...answer, headers: { ...answer.headers, allow: "GET, POST" } }
          : answer,
      client: {
        fqn: "wire/fail",
        args: { name },
        error: { name, message: `by ${name}`, trace: ["[wire/fail | v0.0.0]"] },
      },
    };
  }),
  throwing("errors", "Teapot", refused(418, "Teapot", "I'm a teapot", line), {
    name: "Teapot",
    message: "I'm a teapot",
    trace: [line],
  }),
  throwing("errors", "NotFound", refused(404, "NotFound", "Not found", line), {
    name: "NotFound",
    message: "Not found",
    trace: [line],
  }),
  throwing("errors", "lines", refused(404, "NotFound", "one\ntwo", line), {
    name: "NotFound",
    message: "one\ntwo",
    trace: [line],
  }),
  throwing("errors", "Error", failed("plain", line), {
    name: "Error",
    message: "plain",
    trace: [line],
  }),
  throwing("errors", "TypeError", failed("not that", line), {
    name: "TypeError",
    message: "not that",
    trace: [line],
  }),
  throwing("errors", "text", failed("just text", line), {
    name: "Error",
    message: "just text",
    trace: [line],
  }),
  throwing("errors", "number", failed("7", line), { name: "Error", message: "7", trace: [line] }),
  throwing("errors", "null", failed("null", line), {
    name: "Error",
    message: "null",
    trace: [line],
  }),
  throwing("errors", "nothing", failed("undefined", line), {
    name: "Error",
    message: "undefined",
    trace: [line],
  }),
  {
    ids: "errors",
    title: "a thrown error of the application has the status of the class that it extends",
    http: get("calls/thrown?what=Unravelled"),
    answer: refused(404, "NotFound", "Loom B has unravelled", line),
  },
  {
    ids: "errors forms",
    title: "a thrown error of the application is serialized with its class",
    http: get("wire/fail?name=Refused", encoded),
    answer: {
      ...failed(""),
      headers: { ...failed("").headers, "content-type": "application/json" },
      body: JSON.stringify(
        form("Error", {
          type: "Refused",
          message: "no",
          trace: ["[wire/fail | v0.0.0]"],
          key: "people/Refused",
          args: { 0: "no", 1: 7 },
          fields: {},
        }),
      ),
    },
    client: {
      fqn: "wire/fail",
      args: { name: "Refused" },
      error: { name: "Refused", message: "no", fields: { code: 7 } },
    },
  },
  {
    ids: "errors overview-23",
    title: "an error through three procedures on two nodes has their trace lines",
    http: get("wire/first?how=OutOfStock"),
    answer: refused(
      404,
      "NotFound",
      "Nothing left of tea",
      ...["third", "second", "first"].map((name) => `[wire/${name} | v0.0.0]`),
    ),
    client: {
      fqn: "wire/first",
      args: { how: "OutOfStock" },
      error: {
        name: "OutOfStock",
        message: "Nothing left of tea",
        trace: ["third", "second", "first"].map((name) => `[wire/${name} | v0.0.0]`),
        fields: { sku: "tea" },
      },
    },
  },
];

/** Scalars aren't sent as JSON if they are the whole answer. */
const wholeAnswers: Readonly<Record<string, HttpAnswer>> = {
  text: string("ä \u0000 \ud83e\uddf5 \ufeff"),
  "text that isn't well-formed": {
    ...string('"\\udd75 ä \\ud83e"'),
    headers: { ...string("").headers, "content-type": "application/json" },
  },
  number: scalar("number", "12.5"),
  boolean: scalar("boolean", "false"),
  null: nil,
  undefined: nothing,
  NaN: scalar("number", "NaN"),
};

/** Every value of the table of wire cases: as an argument, as a result, and plain. */
export const wireCalls: readonly CallCase[] = wireCases.flatMap((wireCase): CallCase[] => {
  const expected = "decoded" in wireCase ? wireCase.decoded : wireCase.value;
  const example = `wire/example?name=${encodeURIComponent(wireCase.name)}`;
  const plain = "plain" in wireCase ? wireCase.plain : wireCase.value;
  return [
    {
      ids: "forms types",
      title: `a value travels there and back: ${wireCase.name}`,
      ...(wireCase.trusted
        ? {}
        : {
            http: post("wire/echo", { value: wireCase.wire }, encoded),
            answer: wholeAnswers[wireCase.name] ?? object(wireCase.wire),
            client: { fqn: "wire/echo", args: { value: wireCase.value }, value: expected },
          }),
    },
    {
      ids: "forms types",
      title: `a value is sent serialized: ${wireCase.name}`,
      http: get(example, encoded),
      answer: wholeAnswers[wireCase.name] ?? object(wireCase.wire),
      client: { fqn: "wire/example", args: { name: wireCase.name }, value: expected },
    },
    {
      ids: "plain",
      title: `a value is sent plain: ${wireCase.name}`,
      http: get(example),
      answer: wholeAnswers[wireCase.name] ?? object(plain),
    },
  ].filter((each) => each.http !== undefined);
});

/** Kinds of results and of errors. */
export const resultCases: readonly CallCase[] = [...results, ...errors];
