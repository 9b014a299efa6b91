// The table of calls, third part: versions, access, methods and names.

import {
  type CallCase,
  type ClientCall,
  encoded,
  every,
  get,
  key,
  object,
  post,
  refused,
  refusedForm,
  string,
  withHeaders,
  one,
  returns,
  unknown,
} from "./_call.ts";

const price = (version: string): ClientCall => ({ fqn: "calls/price", version });
const there = "v0.0.0, v1.0.0, v2.1.0, v10.0.0";
const noPrice = (version: string): string =>
  `Procedure 'calls/price' v${version} not found; there is ${there}`;
/** Versions (§9). */
export const versionCalls: readonly CallCase[] = [
  one("§9-9 §9-2", "none named: the default", get("calls/price"), string("price 0.0.0"), {
    fqn: "calls/price",
    value: "price 0.0.0",
  }),
  one("D2-9", "an empty one: the default", get("calls/price?version="), string("price 0.0.0"), {
    ...price(""),
    value: "price 0.0.0",
  }),
  one("D2-9", "zeros: the default", get("calls/price?version=0"), string("price 0.0.0"), {
    ...price("0"),
    value: "price 0.0.0",
  }),
  one(
    "§9-6 D2-10",
    "another file's, short",
    get("calls/price?version=1"),
    string("price 1.0.0, tax 0.2"),
    {
      ...price("1"),
      value: "price 1.0.0, tax 0.2",
    },
  ),
  one(
    "§9-6 §9-10",
    "another file's, whole",
    get("calls/price?version=1.0.0"),
    string("price 1.0.0, tax 0.2"),
  ),
  one(
    "§9-7 §9-8",
    "one of several in a file",
    get("calls/price?version=2.1&metres=3"),
    string("price 2.1.0 for 3"),
    {
      ...price("2.1.0"),
      args: { metres: 3 },
      value: "price 2.1.0 for 3",
    },
  ),
  one("§9-3 §9-7", "one of two figures", get("calls/price?version=10"), string("price 10.0.0"), {
    ...price("10"),
    value: "price 10.0.0",
  }),
  one(
    "§9-10",
    "each has parameters of its own",
    get("calls/price?version=1&metres=3"),
    refused(400, "UnknownParameter", unknown("metres")),
  ),
  one(
    "D2-8 §4.1-3",
    "by POST in the query",
    post("calls/price?version=2.1", { metres: 4 }),
    string("price 2.1.0 for 4"),
  ),
  one(
    "D2-8",
    "by POST in the body it is an argument",
    post("calls/price", { version: "1" }),
    refused(400, "UnknownParameter", unknown("version")),
  ),
  one("D2-10", "leading zeros", get("calls/price?version=01.00"), string("price 1.0.0, tax 0.2")),
  ...["3", "0.0.1", "1.0.1", "2", "999999999.999999999.999999999"].map((version) => {
    const whole = [...version.split("."), "0", "0"].slice(0, 3).join(".");
    return one(
      "D2-12 D2-13",
      `one that isn't there: ${version}`,
      get(`calls/price?version=${version}`),
      refused(404, "ProcedureNotFound", noPrice(whole)),
      {
        ...price(version),
        error: { name: "ProcedureNotFound", message: noPrice(whole), trace: [] },
      },
    );
  }),
  ...["1.2.3.4", "v1", "-1", "1.", ".1", " 1", "1e3", "latest", "1,0", "1234567890"].map(
    (version) =>
      one(
        "D2-11 §9-1",
        `no version: '${version}'`,
        get(`calls/price?version=${encodeURIComponent(version)}`),
        refused(400, "InvalidVersionNumber", `Invalid version number '${version}'`),
        {
          ...price(version),
          error: {
            name: "InvalidVersionNumber",
            message: `Invalid version number '${version}'`,
            trace: [],
          },
        },
      ),
  ),
  one(
    "D2-11",
    "no version, by POST",
    post("calls/price?version=x", "{}"),
    refused(400, "InvalidVersionNumber", "Invalid version number 'x'"),
  ),
  one(
    "D2-4",
    "two versions",
    get("calls/price?version=1&version=2"),
    refused(400, "BadRequest", "The query parameter 'version' was given more than once"),
  ),
  one(
    "D2-4",
    "the same version twice",
    get("calls/price?version=1&version=1"),
    refused(400, "BadRequest", "The query parameter 'version' was given more than once"),
  ),
  one(
    "§9-9 D2-13",
    "no default version is there",
    get("calls/later"),
    refused(404, "ProcedureNotFound", "Procedure 'calls/later' v0.0.0 not found; there is v1.2.0"),
    {
      fqn: "calls/later",
      error: {
        name: "ProcedureNotFound",
        message: "Procedure 'calls/later' v0.0.0 not found; there is v1.2.0",
        trace: [],
      },
    },
  ),
  one(
    "§9-8",
    "no default version is there, another named",
    get("calls/later?version=1.2"),
    string("later 1.2.0"),
    {
      fqn: "calls/later",
      version: "1.2",
      value: "later 1.2.0",
    },
  ),
  one(
    "§4.1-4",
    "version is no parameter, even of a procedure that has one",
    get("calls/edition?version=0"),
    string("edition none"),
  ),
  one(
    "§4.1-4 D2-8",
    "by POST a parameter may have the name",
    post("calls/edition?version=0", { version: "2" }),
    string("edition 2"),
    returns("edition", { version: "2" }, "edition 2"),
  ),
];

const notFound = (fqn: string): string => `Procedure '${fqn}' v0.0.0 not found`;
const nowhere = (ids: string, title: string, path: string, fqn: string = path): CallCase =>
  one(ids, title, get(path), refused(404, "ProcedureNotFound", notFound(fqn)), {
    fqn,
    error: { name: "ProcedureNotFound", message: notFound(fqn), trace: [] },
  });
const shown = { "x-svc-trust-key": key };
/** Who may call what (§5), and names. */
export const accessCalls: readonly CallCase[] = [
  nowhere("D2-31", "unknown", "calls/nothing"),
  nowhere("§4.1-10 D2-31 §1-24", "private", "calls/hidden"),
  one(
    "§4.1-10 D2-31",
    "private, by POST",
    post("calls/hidden", "{}"),
    refused(404, "ProcedureNotFound", notFound("calls/hidden")),
  ),
  one(
    "D2-31",
    "private, with the key",
    get("calls/hidden", shown),
    refused(404, "ProcedureNotFound", notFound("calls/hidden")),
  ),
  nowhere("§1-16", "in no segment", "calls/unsegmented"),
  nowhere("§1-2", "a file's name is no part of it", "calls/kinds/none"),
  nowhere("§1-2", "names are exact", "Calls/none"),
  nowhere("§2.1-1", "a name without its directory", "none"),
  one(
    "§1-20",
    "private, from beside it",
    get("calls/besideHidden"),
    string("private from beside"),
    returns("besideHidden", {}, "private from beside"),
  ),
  one(
    "D2-35 D5.trust",
    "protected",
    get("calls/guarded"),
    refused(401, "Unauthorized", "Unauthorized"),
    {
      fqn: "calls/guarded",
      error: { name: "Unauthorized", message: "Unauthorized", trace: [] },
    },
  ),
  one(
    "D2-35",
    "protected, with another key",
    get("calls/guarded", { "x-svc-trust-key": `${key}s` }),
    refused(401, "Unauthorized", "Unauthorized"),
  ),
  one(
    "D2-35",
    "protected, with what only members may say",
    get("calls/guarded", { "x-svc-credential": "service" }),
    refused(401, "Unauthorized", "Unauthorized"),
  ),
  one(
    "D2-33 §4.1-11 §2.1-4",
    "protected, with the key",
    get("calls/guarded", shown),
    string("guarded"),
  ),
  one(
    "D2-33",
    "protected, with the key, by POST",
    post("calls/guarded", "{}", shown),
    string("guarded"),
  ),
  one(
    "D2-32",
    "protected, by a public one on another node",
    get("calls/viaGuarded"),
    string("guarded from within"),
    returns("viaGuarded", {}, "guarded from within"),
  ),
  one(
    "D6.private",
    "versions for services only are not told",
    get("calls/price?version=12"),
    refused(404, "ProcedureNotFound", noPrice("12.0.0")),
  ),
  one(
    "D6.private",
    "they are told to who shows the key",
    get("calls/price?version=12", shown),
    refused(404, "ProcedureNotFound", `${noPrice("12.0.0")}, v11.0.0`),
  ),
  one(
    "D2-35",
    "a version for services only",
    get("calls/price?version=11"),
    refused(401, "Unauthorized", "Unauthorized"),
  ),
  one(
    "D2-33",
    "a version for services only, with the key",
    get("calls/price?version=11", shown),
    string("price 11.0.0"),
  ),
  one(
    "§2.2 §9-16",
    "private in one segment, public in another",
    get("calls/both"),
    string("both"),
    returns("both", {}, "both"),
  ),
  one(
    "§2.2 §9-13",
    "public in two segments",
    get("calls/shared"),
    string("shared"),
    returns("shared", {}, "shared"),
  ),
  one(
    "§4.6",
    "by name, here",
    get("calls/byName?name=calls/hidden"),
    string("private"),
    returns("byName", { name: "calls/hidden" }, "private"),
  ),
  one(
    "§4.6",
    "by name, on the other node",
    get("calls/byName?name=calls/price"),
    string("price 0.0.0"),
  ),
  one(
    "§4.6 D2-32",
    "by name, protected, on the other node",
    post("calls/byName", { name: "calls/guarded" }),
    string("guarded"),
  ),
  one(
    "§4.6 §9-8",
    "by name, a version",
    post("calls/byName", { name: "calls/price", version: "10" }),
    string("price 10.0.0"),
  ),
  one(
    "§4.6 §7.2 D4-26",
    "by name, what is nowhere",
    post("calls/byName", { name: "calls/nothing" }),
    refused(500, "ProcedureNotFound", notFound("calls/nothing"), "[calls/byName | v0.0.0]"),
  ),
];

const allowed = { allow: "GET, POST" };
const refusedMethod = withHeaders(refused(405, "MethodNotAllowed", "Method not allowed"), allowed);
/** Methods, encodings, paths. */
export const doorCalls: readonly CallCase[] = [
  ...["PUT", "DELETE", "PATCH"].map((method) =>
    one("D2-36 §8-2 §4.2-9", method, { method, path: "/rpc/calls/none" }, refusedMethod),
  ),
  one(
    "D2-36 D2-31",
    "PUT of what is nowhere",
    { method: "PUT", path: "/rpc/calls/nothing" },
    refusedMethod,
  ),
  one(
    "D2-38",
    "HEAD runs nothing",
    { method: "HEAD", path: "/rpc/calls/none" },
    { ...refusedMethod, body: "" },
  ),
  one(
    "D2-37",
    "OPTIONS",
    { method: "OPTIONS", path: "/rpc/calls/none" },
    {
      status: 204,
      headers: { ...every, ...allowed },
      body: "",
    },
  ),
  one(
    "D2-36",
    "PUT, in the serialized form",
    { method: "PUT", path: "/rpc/calls/none", headers: encoded },
    withHeaders(refusedForm(405, "MethodNotAllowed", "Method not allowed"), allowed),
  ),
  one(
    "D3",
    "an encoding that nobody knows",
    get("calls/none", { "x-svc-data-encoding": "xml" }),
    refused(
      415,
      "UnsupportedEncoding",
      "Unsupported encoding 'xml' in x-svc-data-encoding: known are 'serialized' and 'superjson'",
    ),
  ),
  one(
    "D3",
    "an encoding in capitals",
    get("calls/plain?first=1&second=2", { "x-svc-data-encoding": "Serialized" }),
    object(["1", "2"]),
  ),
  one(
    "§1-2",
    "no name",
    { path: "/rpc/" },
    refused(404, "ProcedureNotFound", "The path names no procedure"),
  ),
  one("§1-2 §2.1-1", "a name in escapes", get("calls%2F%6E%6Fne"), string("ran")),
  one(
    "§1-2",
    "malformed escapes in the name",
    get("calls/%E0%A4%A"),
    refused(400, "BadRequest", "The path holds a malformed percent escape"),
  ),
  one(
    "§1-2",
    "a name that ends in a slash",
    get("calls/none/"),
    refused(404, "ProcedureNotFound", notFound("calls/none/")),
  ),
  one(
    "§1-2",
    "a name with two slashes",
    get("calls//none"),
    refused(404, "ProcedureNotFound", notFound("calls//none")),
  ),
  one(
    "§1-2",
    "an escaped way up",
    get("calls%2F..%2Fnone"),
    refused(404, "ProcedureNotFound", notFound("calls/../none")),
  ),
  one(
    "D2-31",
    "a name that every object inherits",
    get("constructor"),
    refused(404, "ProcedureNotFound", notFound("constructor")),
    {
      fqn: "constructor",
      error: { name: "ProcedureNotFound", message: notFound("constructor"), trace: [] },
    },
  ),
  one(
    "§4.5",
    "health of a service without checks",
    { path: "/health" },
    {
      status: 200,
      headers: {
        "x-content-type-options": "nosniff",
        "cache-control": "no-store",
        "content-type": "application/json",
      },
      body: "{}",
    },
  ),
  one(
    "§4.5",
    "that it is well",
    { path: "/health/status" },
    {
      status: 200,
      headers: {
        "x-content-type-options": "nosniff",
        "cache-control": "no-store",
        "content-type": "application/json",
      },
      body: "true",
    },
  ),
];
