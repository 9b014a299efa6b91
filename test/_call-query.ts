// The table of calls, second part: queries and bodies.

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
  callCase,
  returns,
  throws,
  missing,
  unknown,
  day,
} from "./_call.ts";

/** By GET: values in the query, converted by type; calls of another service without an argument. */
export const queryCalls: readonly CallCase[] = [
  callCase(
    "get-1 get-2",
    "query parameters are arguments by name",
    get("calls/plain?first=a&second=b"),
    object(["a", "b"]),
  ),
  callCase(
    "get-2",
    "query parameters may come in another order",
    get("calls/plain?second=b&first=a"),
    object(["a", "b"]),
  ),
  callCase(
    "calls-1",
    "text that looks like a number stays text",
    get("calls/plain?first=1&second=true"),
    object(["1", "true"]),
  ),
  callCase(
    "calls-1",
    "an empty query parameter is an empty text",
    get("calls/plain?first=&second"),
    object(["", ""]),
  ),
  callCase(
    "calls-1 get-2",
    "escapes and pluses in a query are decoded",
    get("calls/plain?first=a%20b&second=%C3%A4+%2B"),
    object(["a b", "ä +"]),
  ),
  callCase(
    "calls-1",
    "malformed escapes in a query stay text",
    get("calls/plain?first=%25zz&second=%zz"),
    object(["%zz", "%zz"]),
  ),
  callCase(
    "calls-2",
    "brackets in a query don't make an array or object",
    get("calls/plain?first[a]=1&second=2"),
    refused(400, "MissingParameterValue", missing("first")),
  ),
  callCase(
    "calls-2",
    "brackets are part of a query parameter's name",
    get("calls/plain?first=1&second=2&third[]=3"),
    refused(400, "UnknownParameter", unknown("third[]")),
  ),
  callCase(
    "calls-3",
    "a query parameter that comes twice is an array",
    get("calls/plain?first=a&first=b&second=c"),
    object([["a", "b"], "c"]),
  ),
  callCase(
    "procedures-7",
    "an optional query parameter that is left out takes its default",
    get("calls/optional?a=1"),
    object(["1", "b by default", "no c"]),
  ),
  callCase(
    "procedures-9 calls-25",
    "query parameters of a pattern's properties are converted",
    get("calls/object?width=3&height=4"),
    scalar("number", "12"),
  ),
  callCase(
    "calls-23",
    "an array pattern's variables are query parameters",
    get("calls/array?first=a"),
    object(["a", 3]),
  ),
  callCase(
    "calls-24",
    "a pattern takes its own default if the query has no property of it",
    get("calls/whole"),
    object([7, 8]),
  ),
  callCase(
    "calls-22 procedures-12",
    "a rest parameter with values needs POST",
    get("calls/rest?by=-&...names=a"),
    refused(400, "InvalidParameterValue", "parameter '...names' needs POST"),
  ),
  callCase(
    "calls-22 procedures-15",
    "a rest parameter that the query leaves out is empty",
    get("calls/rest?by=-"),
    string(""),
  ),
  callCase(
    "calls-17 calls-22",
    "a query parameter missing before a rest parameter is refused",
    get("calls/rest?...names=a"),
    refused(400, "MissingParameterValue", missing("by")),
  ),
  callCase(
    "calls-5",
    "query parameters become numbers, booleans, bigints and dates",
    get("calls/typed?number=-1.5e2&flag=true&big=-12345678901234567890&day=2021-01-01", encoded),
    object([-150, true, form("BigInt", { value: "-12345678901234567890" }), day("2021-01-01")]),
    returns(
      "typed",
      { number: -150, flag: true, big: -12345678901234567890n, day: new Date("2021-01-01") },
      [-150, true, -12345678901234567890n, new Date("2021-01-01")],
    ),
  ),
  callCase(
    "calls-5 procedures-14",
    "only query parameters that are there are converted",
    get("calls/typed?number=7"),
    object([7, null, null, null]),
  ),
  callCase(
    "calls-6 calls-3",
    "query parameters become lists of each type",
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
  callCase(
    "procedures-18",
    "a single query parameter becomes a list of one",
    get("calls/lists?numbers=1&flags=true&bigs=1&texts=a"),
    object([[1], [true], ["1"], [], ["a"]]),
  ),
  callCase(
    "calls-7",
    "text that isn't a number is refused for one",
    get("calls/typed?number=many"),
    refused(400, "InvalidParameterValue", "parameter 'number' must be a number"),
  ),
  callCase(
    "procedures-19",
    "empty text is refused for a number",
    get("calls/typed?number="),
    refused(400, "InvalidParameterValue", "parameter 'number' must be a number"),
  ),
  callCase(
    "calls-7",
    "two values are refused for one number",
    get("calls/typed?number=1&number=2"),
    refused(400, "InvalidParameterValue", "parameter 'number' must be a number"),
  ),
  callCase(
    "calls-7",
    "text that isn't a boolean is refused for one",
    get("calls/typed?number=1&flag=yes"),
    refused(400, "InvalidParameterValue", "parameter 'flag' must be a boolean"),
  ),
  callCase(
    "calls-7",
    "text that isn't a bigint is refused for one",
    get("calls/typed?number=1&big=1.5"),
    refused(400, "InvalidParameterValue", "parameter 'big' must be a bigint"),
  ),
  callCase(
    "calls-7",
    "text that isn't a date is refused for one",
    get("calls/typed?number=1&day=2021-02-30"),
    refused(400, "InvalidParameterValue", "parameter 'day' must be an ISO date"),
  ),
  callCase(
    "calls-7",
    "a list is refused if one of its texts isn't a number",
    get("calls/lists?numbers=1&numbers=x"),
    refused(
      400,
      "InvalidParameterValue",
      "parameter 'numbers' must be a list of which each is a number",
    ),
  ),
  callCase(
    "calls-7 calls-18",
    "a refusal names all query parameters that don't convert",
    get("calls/typed?number=x&flag=y"),
    refused(
      400,
      "InvalidParameterValue",
      "parameter 'number' must be a number; parameter 'flag' must be a boolean",
    ),
  ),
  callCase(
    "calls-17",
    "a missing query parameter is reported before one that doesn't convert",
    get("calls/typed?flag=yes"),
    refused(400, "MissingParameterValue", missing("number")),
  ),
  callCase(
    "calls-17",
    "an unknown query parameter is reported before one that doesn't convert",
    get("calls/typed?number=x&y=1"),
    refused(400, "UnknownParameter", unknown("y")),
  ),
  callCase(
    "calls-17",
    "missing query parameters are refused by name",
    get("calls/plain?third=1"),
    refused(400, "MissingParameterValue", missing("first", "second")),
  ),
  callCase(
    "post-8 calls-18",
    "unknown query parameters are refused by name",
    get("calls/none?x=1&y=2"),
    refused(400, "UnknownParameter", unknown("x", "y")),
  ),
  callCase(
    "calls-16",
    "a service may leave out a required argument, which is undefined then",
    get("calls/half?how=left+out"),
    string("1 and undefined"),
    returns("half", { how: "left out" }, "1 and undefined"),
  ),
  callCase(
    "calls-16",
    "a service may pass undefined for a required argument",
    get("calls/half?how=given"),
    string("1 and undefined"),
    returns("half", { how: "given" }, "1 and undefined"),
  ),
  callCase(
    "calls-14",
    "a caller outside may not leave out a required argument",
    post("calls/second", { first: 1 }),
    refused(400, "MissingParameterValue", missing("other")),
    throws("second", { first: 1 }, "MissingParameterValue", missing("other")),
  ),
];

/** Bodies. */
export const bodyCalls: readonly CallCase[] = [
  callCase(
    "calls-27",
    "a content type may have a parameter",
    post("calls/none", "{}", { "content-type": "application/json; charset=utf-8" }),
    string("ran"),
  ),
  callCase(
    "calls-27",
    "a content type may be in capitals",
    post("calls/none", "{}", { "content-type": "Application/JSON" }),
    string("ran"),
  ),
  ...[
    "text/plain",
    "application/x-www-form-urlencoded",
    "application/jsonp",
    "application/problem+json",
  ].map((type) =>
    callCase(
      "calls-28",
      `a body of type ${type} is refused`,
      post("calls/none", "{}", { "content-type": type }),
      refused(
        415,
        "UnsupportedEncoding",
        "A call's body must have the content type application/json or multipart/form-data",
      ),
    ),
  ),
  {
    ...callCase(
      "calls-29",
      "POST needs neither body nor content type without arguments",
      { method: "POST", path: "/rpc/calls/none" },
      string("ran"),
    ),
    noPage: "a page names its origin, and one of another site could send this unasked",
  },
  {
    ...callCase(
      "calls-29",
      "POST without a body may have another content type",
      { method: "POST", path: "/rpc/calls/none", headers: { "content-type": "text/plain" } },
      string("ran"),
    ),
    noPage: "as above",
  },
  callCase(
    "calls-29",
    "POST without a body may have the right content type",
    post("calls/none", ""),
    string("ran"),
  ),
  callCase(
    "calls-29",
    "POST without a body is refused if arguments are required",
    post("calls/plain", ""),
    refused(400, "MissingParameterValue", missing("first", "second")),
  ),
  ...["{", "{} {}", "{'a':1}", "\u0000", "undefined"].map((body) =>
    callCase(
      "calls-30",
      `a body that isn't JSON is refused: ${JSON.stringify(body)}`,
      post("calls/none", body),
      refused(400, "BadRequest", "The text is not JSON"),
    ),
  ),
  ...["[]", "null", "1", '"a"', "true"].map((body) =>
    callCase(
      "calls-30 limits-4",
      `a body that isn't an object is refused: ${body}`,
      post("calls/none", body),
      refused(400, "BadRequest", "The body must be a JSON object"),
    ),
  ),
  callCase(
    "calls-28",
    "a compressed body is refused",
    post("calls/none", "{}", { "content-encoding": "gzip" }),
    refused(415, "UnsupportedEncoding", "Unsupported content encoding 'gzip'"),
  ),
  callCase(
    "post-6",
    "GET answers the same as POST",
    get("calls/plain?first=a&second=b"),
    object(["a", "b"]),
  ),
  callCase(
    "post-6",
    "POST answers the same as GET",
    post("calls/plain", { first: "a", second: "b" }),
    object(["a", "b"]),
  ),
  callCase(
    "post-4",
    "an argument may have 100,000 characters",
    post("calls/kindOf", { value: "x".repeat(100_000) }),
    string("string"),
  ),
  callCase(
    "limits",
    "a body of more than a mebibyte is refused",
    post("calls/kindOf", { value: "x".repeat(1_048_577) }),
    refused(413, "PayloadTooLarge", "The request's body is over the limit of 1048576 bytes"),
  ),
  callCase(
    "limits",
    "a body with more than 128 levels is refused",
    post("calls/kindOf", `{"value":${"[".repeat(129)}${"]".repeat(129)}}`),
    refused(400, "BadRequest", "More than 128 levels of nesting (limit 'maxDepth')"),
  ),
  callCase(
    "limits",
    "a query with more than 100 parameters is refused",
    get(`calls/kindOf?${"value=1&".repeat(101)}`),
    refused(400, "BadRequest", "More than 100 query parameters (limit 'maxQueryParameters')"),
  ),
];
