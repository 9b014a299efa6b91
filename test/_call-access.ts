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
  callCase,
  returns,
  unknown,
} from "./_call.ts";

const price = (version: string): ClientCall => ({ fqn: "calls/price", version });
const registered = "v0.0.0, v1.0.0, v2.1.0, v10.0.0";
const noPrice = (version: string): string =>
  `Procedure 'calls/price' v${version} not found; there is ${registered}`;
/** A protected procedure, without the key: the answer names the field that takes it. */
const unauthorized = withHeaders(refused(401, "Unauthorized", "Unauthorized"), {
  "www-authenticate": "x-svc-trust-key",
});
/** Versions. */
export const versionCalls: readonly CallCase[] = [
  callCase(
    "versions-9 versions-2",
    "a call that names no version runs the default",
    get("calls/price"),
    string("price 0.0.0"),
    {
      fqn: "calls/price",
      value: "price 0.0.0",
    },
  ),
  callCase(
    "calls-9",
    "an empty version runs the default",
    get("calls/price?version="),
    string("price 0.0.0"),
    {
      ...price(""),
      value: "price 0.0.0",
    },
  ),
  callCase(
    "calls-9",
    "version 0 runs the default",
    get("calls/price?version=0"),
    string("price 0.0.0"),
    {
      ...price("0"),
      value: "price 0.0.0",
    },
  ),
  callCase(
    "versions-6 calls-10",
    "a short version runs another file's procedure",
    get("calls/price?version=1"),
    string("price 1.0.0, tax 0.2"),
    {
      ...price("1"),
      value: "price 1.0.0, tax 0.2",
    },
  ),
  callCase(
    "versions-6 versions-10",
    "a full version runs another file's procedure",
    get("calls/price?version=1.0.0"),
    string("price 1.0.0, tax 0.2"),
  ),
  callCase(
    "versions-7 versions-8",
    "a version runs one of several functions of one file",
    get("calls/price?version=2.1&metres=3"),
    string("price 2.1.0 for 3"),
    {
      ...price("2.1.0"),
      args: { metres: 3 },
      value: "price 2.1.0 for 3",
    },
  ),
  callCase(
    "versions-3 versions-7",
    "a version may have a number of two digits",
    get("calls/price?version=10"),
    string("price 10.0.0"),
    {
      ...price("10"),
      value: "price 10.0.0",
    },
  ),
  callCase(
    "versions-10",
    "each version has its own parameters",
    get("calls/price?version=1&metres=3"),
    refused(400, "UnknownParameter", unknown("metres")),
  ),
  callCase(
    "calls-8 get-3",
    "POST reads the version from the query",
    post("calls/price?version=2.1", { metres: 4 }),
    string("price 2.1.0 for 4"),
  ),
  callCase(
    "calls-8",
    "POST takes a version in the body for an argument, which is unknown",
    post("calls/price", { version: "1" }),
    refused(400, "UnknownParameter", unknown("version")),
  ),
  callCase(
    "calls-10",
    "a version may have leading zeros",
    get("calls/price?version=01.00"),
    string("price 1.0.0, tax 0.2"),
  ),
  ...["3", "0.0.1", "1.0.1", "2", "999999999.999999999.999999999"].map((version) => {
    const fullVersion = [...version.split("."), "0", "0"].slice(0, 3).join(".");
    return callCase(
      "calls-12 calls-13",
      `a version that isn't registered is refused: ${version}`,
      get(`calls/price?version=${version}`),
      refused(404, "ProcedureNotFound", noPrice(fullVersion)),
      {
        ...price(version),
        error: { name: "ProcedureNotFound", message: noPrice(fullVersion), trace: [] },
      },
    );
  }),
  ...["1.2.3.4", "v1", "-1", "1.", ".1", " 1", "1e3", "latest", "1,0", "1234567890"].map(
    (version) =>
      callCase(
        "calls-11 versions-1",
        `an invalid version is refused: '${version}'`,
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
  callCase(
    "calls-11",
    "POST refuses an invalid version",
    post("calls/price?version=x", "{}"),
    refused(400, "InvalidVersionNumber", "Invalid version number 'x'"),
  ),
  callCase(
    "calls-4",
    "two versions in one call are refused",
    get("calls/price?version=1&version=2"),
    refused(400, "BadRequest", "The query parameter 'version' was given more than once"),
  ),
  callCase(
    "calls-4",
    "the same version twice in one call is refused",
    get("calls/price?version=1&version=1"),
    refused(400, "BadRequest", "The query parameter 'version' was given more than once"),
  ),
  callCase(
    "versions-9 calls-13",
    "without a default version, a call that names no version is refused",
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
  callCase(
    "versions-8",
    "without a default version, a version that is named runs",
    get("calls/later?version=1.2"),
    string("later 1.2.0"),
    {
      fqn: "calls/later",
      version: "1.2",
      value: "later 1.2.0",
    },
  ),
  callCase(
    "get-4",
    "version isn't a parameter of a GET, even if the procedure has one",
    get("calls/edition?version=0"),
    string("edition none"),
  ),
  callCase(
    "get-4 calls-8",
    "POST takes version as a parameter of the procedure",
    post("calls/edition?version=0", { version: "2" }),
    string("edition 2"),
    returns("edition", { version: "2" }, "edition 2"),
  ),
];

const notFound = (fqn: string): string => `Procedure '${fqn}' v0.0.0 not found`;
const nowhere = (ids: string, title: string, path: string, fqn: string = path): CallCase =>
  callCase(ids, title, get(path), refused(404, "ProcedureNotFound", notFound(fqn)), {
    fqn,
    error: { name: "ProcedureNotFound", message: notFound(fqn), trace: [] },
  });
const credential = { "x-svc-trust-key": key };
/** Access, and unknown names. */
export const accessCalls: readonly CallCase[] = [
  nowhere("calls-31", "an unknown procedure isn't found", "calls/nothing"),
  nowhere("get-10 calls-31 overview-24", "a private procedure isn't found", "calls/hidden"),
  callCase(
    "get-10 calls-31",
    "POST doesn't find a private procedure",
    post("calls/hidden", "{}"),
    refused(404, "ProcedureNotFound", notFound("calls/hidden")),
  ),
  callCase(
    "calls-31",
    "a private procedure isn't found with the trust key either",
    get("calls/hidden", credential),
    refused(404, "ProcedureNotFound", notFound("calls/hidden")),
  ),
  nowhere("overview-16", "a function in no segment isn't found", "calls/unsegmented"),
  nowhere("overview-2", "a file's name isn't part of a procedure's name", "calls/kinds/none"),
  nowhere("overview-2", "names of procedures are case-sensitive", "Calls/none"),
  nowhere("procedures-1", "a procedure isn't found without its directory", "none"),
  callCase(
    "overview-20",
    "a private procedure can be called by one of its own node",
    get("calls/besideHidden"),
    string("private from beside"),
    returns("besideHidden", {}, "private from beside"),
  ),
  callCase(
    "calls-35 trust",
    "a protected procedure is refused",
    get("calls/guarded"),
    unauthorized,
    {
      fqn: "calls/guarded",
      error: { name: "Unauthorized", message: "Unauthorized", trace: [] },
    },
  ),
  callCase(
    "calls-35",
    "a protected procedure is refused with another key",
    get("calls/guarded", { "x-svc-trust-key": `${key}s` }),
    unauthorized,
  ),
  callCase(
    "calls-35",
    "a protected procedure is refused with a credential that has no value",
    get("calls/guarded", { "x-svc-credential": "service" }),
    unauthorized,
  ),
  callCase(
    "calls-33 get-11 procedures-4",
    "a protected procedure runs with the trust key",
    get("calls/guarded", credential),
    string("guarded"),
  ),
  callCase(
    "calls-33",
    "a protected procedure runs with the trust key by POST",
    post("calls/guarded", "{}", credential),
    string("guarded"),
  ),
  callCase(
    "calls-32",
    "a protected procedure can be called by a public one on another node",
    get("calls/viaGuarded"),
    string("guarded from within"),
    returns("viaGuarded", {}, "guarded from within"),
  ),
  callCase(
    "guards-1 guards-3",
    "a guard refuses a caller with the error that it throws",
    get("calls/members"),
    refused(403, "Forbidden", "Members only"),
    {
      fqn: "calls/members",
      error: { name: "Forbidden", message: "Members only", trace: [] },
    },
  ),
  callCase(
    "guards-1",
    "a guard lets a caller pass whose headers it takes",
    get("calls/members", { "x-member": "yes" }),
    string("members"),
  ),
  callCase(
    "guards-6",
    "a guard refuses a caller with the trust key as any other",
    get("calls/members", credential),
    refused(403, "Forbidden", "Members only"),
  ),
  callCase(
    "guards-8",
    "a guard refuses a caller whose arguments can't be read, and doesn't say so",
    post("calls/members", "{"),
    refused(403, "Forbidden", "Members only"),
  ),
  callCase(
    "guards-5",
    "a call of a procedure on another node meets no guard",
    get("calls/viaMembers"),
    string("members from within"),
    returns("viaMembers", {}, "members from within"),
  ),
  callCase(
    "guards-5",
    "a call by name of a procedure on another node meets no guard",
    post("calls/byName", { name: "calls/members" }),
    string("members"),
  ),
  callCase(
    "access",
    "a refusal lists no versions that are for services only",
    get("calls/price?version=12"),
    refused(404, "ProcedureNotFound", noPrice("12.0.0")),
  ),
  callCase(
    "access",
    "a refusal lists versions for services to a caller with the trust key",
    get("calls/price?version=12", credential),
    refused(404, "ProcedureNotFound", `${noPrice("12.0.0")}, v11.0.0`),
  ),
  callCase(
    "calls-35",
    "a version for services only is refused",
    get("calls/price?version=11"),
    unauthorized,
  ),
  callCase(
    "calls-33",
    "a version for services only runs with the trust key",
    get("calls/price?version=11", credential),
    string("price 11.0.0"),
  ),
  callCase(
    "segments versions-16",
    "a procedure that is private in one segment and public in another can be called",
    get("calls/both"),
    string("both"),
    returns("both", {}, "both"),
  ),
  callCase(
    "segments versions-13",
    "a procedure that is public in two segments can be called",
    get("calls/shared"),
    string("shared"),
    returns("shared", {}, "shared"),
  ),
  callCase(
    "hooks",
    "runProcedure calls a procedure of its own node",
    get("calls/byName?name=calls/hidden"),
    string("private"),
    returns("byName", { name: "calls/hidden" }, "private"),
  ),
  callCase(
    "hooks",
    "runProcedure calls a procedure of another node",
    get("calls/byName?name=calls/price"),
    string("price 0.0.0"),
  ),
  callCase(
    "hooks calls-32",
    "runProcedure calls a protected procedure of another node",
    post("calls/byName", { name: "calls/guarded" }),
    string("guarded"),
  ),
  callCase(
    "hooks versions-8",
    "runProcedure calls a version",
    post("calls/byName", { name: "calls/price", version: "10" }),
    string("price 10.0.0"),
  ),
  callCase(
    "hooks errors errors-46",
    "runProcedure rejects for a procedure that no node has",
    post("calls/byName", { name: "calls/nothing" }),
    refused(500, "ProcedureNotFound", notFound("calls/nothing"), "[calls/byName | v0.0.0]"),
  ),
];

const allowed = { allow: "GET, POST, QUERY" };
const refusedMethod = withHeaders(refused(405, "MethodNotAllowed", "Method not allowed"), allowed);
/** Methods, encodings, paths. */
export const endpointCalls: readonly CallCase[] = [
  ...["PUT", "DELETE", "PATCH"].map((method) =>
    callCase(
      "calls-36 limits-2 post-9",
      `${method} is refused`,
      { method, path: "/rpc/calls/none" },
      refusedMethod,
    ),
  ),
  callCase(
    "calls-36 calls-31",
    "PUT to an unknown procedure is refused",
    { method: "PUT", path: "/rpc/calls/nothing" },
    refusedMethod,
  ),
  callCase(
    "calls-38",
    "HEAD doesn't run the procedure",
    { method: "HEAD", path: "/rpc/calls/none" },
    { ...refusedMethod, body: "" },
  ),
  callCase(
    "calls-37",
    "OPTIONS answers 204 with the methods that are allowed",
    { method: "OPTIONS", path: "/rpc/calls/none" },
    {
      status: 204,
      headers: { ...every, ...allowed },
      body: "",
    },
  ),
  callCase(
    "calls-36",
    "the refusal of a PUT is serialized if the caller accepts that",
    { method: "PUT", path: "/rpc/calls/none", headers: encoded },
    withHeaders(refusedForm(405, "MethodNotAllowed", "Method not allowed"), allowed),
  ),
  callCase(
    "forms",
    "an unknown encoding is refused",
    get("calls/none", { "x-svc-data-encoding": "xml" }),
    refused(
      415,
      "UnsupportedEncoding",
      "Unsupported encoding 'xml' in x-svc-data-encoding: known are 'serialized' and 'superjson'",
    ),
  ),
  callCase(
    "forms",
    "an encoding may be in capitals",
    get("calls/plain?first=1&second=2", { "x-svc-data-encoding": "Serialized" }),
    object(["1", "2"]),
  ),
  callCase(
    "overview-2",
    "a call without a name isn't found",
    { path: "/rpc/" },
    refused(404, "ProcedureNotFound", "The path names no procedure"),
  ),
  callCase(
    "overview-2 procedures-1",
    "a name may be escaped",
    get("calls%2F%6E%6Fne"),
    string("ran"),
  ),
  callCase(
    "overview-2",
    "malformed escapes in the name are refused",
    get("calls/%E0%A4%A"),
    refused(400, "BadRequest", "The path has a malformed percent escape"),
  ),
  callCase(
    "overview-2",
    "a name that ends in a slash isn't found",
    get("calls/none/"),
    refused(404, "ProcedureNotFound", notFound("calls/none/")),
  ),
  callCase(
    "overview-2",
    "a name with two slashes in a row isn't found",
    get("calls//none"),
    refused(404, "ProcedureNotFound", notFound("calls//none")),
  ),
  callCase(
    "overview-2",
    "a name with an escaped .. isn't found",
    get("calls%2F..%2Fnone"),
    refused(404, "ProcedureNotFound", notFound("calls/../none")),
  ),
  callCase(
    "calls-31",
    "a name that every object inherits isn't found",
    get("constructor"),
    refused(404, "ProcedureNotFound", notFound("constructor")),
    {
      fqn: "constructor",
      error: { name: "ProcedureNotFound", message: notFound("constructor"), trace: [] },
    },
  ),
  callCase(
    "health",
    "a service without checks has no health details",
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
  callCase(
    "health",
    "a service without checks is healthy",
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
