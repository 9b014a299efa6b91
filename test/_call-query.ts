// The table of calls, second part: what a query may say, and what a body may be.

import {
  type CallCase,
  encoded,
  form,
  get,
  object,
  post,
  refused,
  scalar,
  string,
  one,
  returns,
  throws,
  missing,
  unknown,
  day,
} from "./_call.ts";

/** By GET: values in the query, converted by type (§4.1); calls of another service without an argument. */
export const queryCalls: readonly CallCase[] = [
  one("§4.1-1 §4.1-2", "values by name", get("calls/plain?first=a&second=b"), object(["a", "b"])),
  one(
    "§4.1-2",
    "values by name in another order",
    get("calls/plain?second=b&first=a"),
    object(["a", "b"]),
  ),
  one(
    "D2-1",
    "what looks like a number is text",
    get("calls/plain?first=1&second=true"),
    object(["1", "true"]),
  ),
  one("D2-1", "empty text is a value", get("calls/plain?first=&second"), object(["", ""])),
  one(
    "D2-1 §4.1-2",
    "escapes and pluses",
    get("calls/plain?first=a%20b&second=%C3%A4+%2B"),
    object(["a b", "ä +"]),
  ),
  one(
    "D2-1",
    "malformed escapes stay text",
    get("calls/plain?first=%25zz&second=%zz"),
    object(["%zz", "%zz"]),
  ),
  one(
    "D2-2",
    "no bracket notation",
    get("calls/plain?first[a]=1&second=2"),
    refused(400, "MissingParameterValue", missing("first")),
  ),
  one(
    "D2-2",
    "brackets are part of a name",
    get("calls/plain?first=1&second=2&third[]=3"),
    refused(400, "UnknownParameter", unknown("third[]")),
  ),
  one(
    "D2-3",
    "a key given twice is an array",
    get("calls/plain?first=a&first=b&second=c"),
    object([["a", "b"], "c"]),
  ),
  one(
    "§2.1-7",
    "an optional one left out",
    get("calls/optional?a=1"),
    object(["1", "b by default", "no c"]),
  ),
  one(
    "§2.1-9 D2-25",
    "a pattern's properties, converted",
    get("calls/object?width=3&height=4"),
    scalar("number", "12"),
  ),
  one("D2-23", "an array's pattern", get("calls/array?first=a"), object(["a", 3])),
  one("D2-24", "a pattern's own default", get("calls/whole"), object([7, 8])),
  one(
    "D2-22 §2.1-12",
    "a rest parameter",
    get("calls/rest?by=-&...names=a"),
    refused(400, "InvalidParameterValue", "parameter '...names' needs POST"),
  ),
  one("D2-22 D6.parameters-2", "a rest parameter left out", get("calls/rest?by=-"), string("")),
  one(
    "D2-17 D2-22",
    "a missing one before a rest parameter",
    get("calls/rest?...names=a"),
    refused(400, "MissingParameterValue", missing("by")),
  ),
  one(
    "D2-5",
    "number, boolean, bigint, Date",
    get("calls/typed?number=-1.5e2&flag=true&big=-12345678901234567890&day=2021-01-01", encoded),
    object([-150, true, form("BigInt", { value: "-12345678901234567890" }), day("2021-01-01")]),
    returns(
      "typed",
      { number: -150, flag: true, big: -12345678901234567890n, day: new Date("2021-01-01") },
      [-150, true, -12345678901234567890n, new Date("2021-01-01")],
    ),
  ),
  one(
    "D2-5 D6.parameters-1",
    "only what is there is converted",
    get("calls/typed?number=7"),
    object([7, null, null, null]),
  ),
  one(
    "D2-6 D2-3",
    "lists of each",
    get(
      "calls/lists?numbers=1&numbers=2&flags=true&flags=false&bigs=1&bigs=2&days=2021-01-01&days=2021-01-02&texts=a&texts=b",
      encoded,
    ),
    object([
      [1, 2],
      [true, false],
      [form("BigInt", { value: "1" }), form("BigInt", { value: "2" })],
      [day("2021-01-01"), day("2021-01-02")],
      ["a", "b"],
    ]),
  ),
  one(
    "D6.parameters-5",
    "lists of one",
    get("calls/lists?numbers=1&flags=true&bigs=1&texts=a"),
    object([[1], [true], ["1"], [], ["a"]]),
  ),
  one(
    "D2-7",
    "a number that is none",
    get("calls/typed?number=many"),
    refused(400, "InvalidParameterValue", "parameter 'number' must be a number"),
  ),
  one(
    "D6.parameters-6",
    "empty text for a number",
    get("calls/typed?number="),
    refused(400, "InvalidParameterValue", "parameter 'number' must be a number"),
  ),
  one(
    "D2-7",
    "a number given twice",
    get("calls/typed?number=1&number=2"),
    refused(400, "InvalidParameterValue", "parameter 'number' must be a number"),
  ),
  one(
    "D2-7",
    "a boolean that is none",
    get("calls/typed?number=1&flag=yes"),
    refused(400, "InvalidParameterValue", "parameter 'flag' must be a boolean"),
  ),
  one(
    "D2-7",
    "a bigint that is none",
    get("calls/typed?number=1&big=1.5"),
    refused(400, "InvalidParameterValue", "parameter 'big' must be a bigint"),
  ),
  one(
    "D2-7",
    "a day that is none",
    get("calls/typed?number=1&day=2021-02-30"),
    refused(400, "InvalidParameterValue", "parameter 'day' must be an ISO date"),
  ),
  one(
    "D2-7",
    "one of a list that is none",
    get("calls/lists?numbers=1&numbers=x"),
    refused(
      400,
      "InvalidParameterValue",
      "parameter 'numbers' must be a list of which each is a number",
    ),
  ),
  one(
    "D2-7 D2-18",
    "all that don't convert",
    get("calls/typed?number=x&flag=y"),
    refused(
      400,
      "InvalidParameterValue",
      "parameter 'number' must be a number; parameter 'flag' must be a boolean",
    ),
  ),
  one(
    "D2-17",
    "a missing one before what doesn't convert",
    get("calls/typed?flag=yes"),
    refused(400, "MissingParameterValue", missing("number")),
  ),
  one(
    "D2-17",
    "an unknown one before what doesn't convert",
    get("calls/typed?number=x&y=1"),
    refused(400, "UnknownParameter", unknown("y")),
  ),
  one(
    "D2-17",
    "a missing one by GET",
    get("calls/plain?third=1"),
    refused(400, "MissingParameterValue", missing("first", "second")),
  ),
  one(
    "§4.2-8 D2-18",
    "unknown ones by GET",
    get("calls/none?x=1&y=2"),
    refused(400, "UnknownParameter", unknown("x", "y")),
  ),
  one(
    "D2-16",
    "another service's call without a required argument",
    get("calls/half?how=left+out"),
    string("1 and undefined"),
    returns("half", { how: "left out" }, "1 and undefined"),
  ),
  one(
    "D2-16",
    "another service's call with undefined",
    get("calls/half?how=given"),
    string("1 and undefined"),
    returns("half", { how: "given" }, "1 and undefined"),
  ),
  one(
    "D2-14",
    "the same argument left out from outside",
    post("calls/second", { first: 1 }),
    refused(400, "MissingParameterValue", missing("other")),
    throws("second", { first: 1 }, "MissingParameterValue", missing("other")),
  ),
];

/** Bodies (§4.2). */
export const bodyCalls: readonly CallCase[] = [
  one(
    "D2-27",
    "a content type with a parameter",
    post("calls/none", "{}", { "content-type": "application/json; charset=utf-8" }),
    string("ran"),
  ),
  one(
    "D2-27",
    "a content type in capitals",
    post("calls/none", "{}", { "content-type": "Application/JSON" }),
    string("ran"),
  ),
  ...[
    "text/plain",
    "application/x-www-form-urlencoded",
    "application/jsonp",
    "application/problem+json",
  ].map((type) =>
    one(
      "D2-28",
      `a body of type ${type}`,
      post("calls/none", "{}", { "content-type": type }),
      refused(
        415,
        "UnsupportedEncoding",
        "A call's body must have the content type application/json",
      ),
    ),
  ),
  {
    ...one("D2-29", "no body, no type", { method: "POST", path: "/rpc/calls/none" }, string("ran")),
    noPage: "a page names its origin, and one of another site could send this unasked",
  },
  {
    ...one(
      "D2-29",
      "no body, another type",
      { method: "POST", path: "/rpc/calls/none", headers: { "content-type": "text/plain" } },
      string("ran"),
    ),
    noPage: "as above",
  },
  one("D2-29", "no body, the right type", post("calls/none", ""), string("ran")),
  one(
    "D2-29",
    "no body where something is needed",
    post("calls/plain", ""),
    refused(400, "MissingParameterValue", missing("first", "second")),
  ),
  ...["{", "{} {}", "{'a':1}", "\u0000", "undefined"].map((body) =>
    one(
      "D2-30",
      `a body that is no JSON: ${JSON.stringify(body)}`,
      post("calls/none", body),
      refused(400, "BadRequest", "The text is no JSON"),
    ),
  ),
  ...["[]", "null", "1", '"a"', "true"].map((body) =>
    one(
      "D2-30 §8-4",
      `a body that is no object: ${body}`,
      post("calls/none", body),
      refused(400, "BadRequest", "The body must be a JSON object"),
    ),
  ),
  one(
    "D2-28",
    "a packed body",
    post("calls/none", "{}", { "content-encoding": "gzip" }),
    refused(415, "UnsupportedEncoding", "Unsupported content encoding 'gzip'"),
  ),
  one(
    "§4.2-6",
    "the answer is the same by GET",
    get("calls/plain?first=a&second=b"),
    object(["a", "b"]),
  ),
  one(
    "§4.2-6",
    "the answer is the same by POST",
    post("calls/plain", { first: "a", second: "b" }),
    object(["a", "b"]),
  ),
  one(
    "§4.2-4",
    "100,000 characters",
    post("calls/kindOf", { value: "x".repeat(100_000) }),
    string("string"),
  ),
  one(
    "D6.limits",
    "more than a mebibyte",
    post("calls/kindOf", { value: "x".repeat(1_048_577) }),
    refused(413, "PayloadTooLarge", "The request's body is over the limit of 1048576 bytes"),
  ),
  one(
    "D6.limits",
    "more than 128 levels",
    post("calls/kindOf", `{"value":${"[".repeat(129)}${"]".repeat(129)}}`),
    refused(400, "BadRequest", "More than 128 levels of nesting (limit 'depth')"),
  ),
  one(
    "D6.limits",
    "more than 100 values in a query",
    get(`calls/kindOf?${"value=1&".repeat(101)}`),
    refused(400, "BadRequest", "More than 100 query parameters (limit 'query')"),
  ),
];
