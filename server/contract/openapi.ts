// A contract as an OpenAPI document, for the callers of plain HTTP: JSON in, JSON and problem details out.

import { headers } from "../../src/base/protocol.ts";
import { defaultVersion } from "../../src/base/version.ts";
import { patternParts } from "../../src/http/route-pattern.ts";
import { callerNames, type CallerName } from "../types/call-types.ts";
import {
  described,
  jsonOf,
  type JsonSchema,
  schemaOf,
  type SchemaOptions,
} from "../types/json-schema.ts";
import type { Type } from "../types/model.ts";
import { reaches } from "../types/values.ts";
import type { Contract, ContractProcedure, ContractRoute } from "./contract.ts";
import { publicContract } from "./public-contract.ts";

export interface OpenApi {
  readonly document: OpenApiDocument;
  readonly clashes: readonly Clash[];
}

/** Operations that share an id: generated clients would give them all the same name. */
export interface Clash {
  readonly operationId: string;
  /** Names of procedures and routes, as {@link nameOf} writes them. */
  readonly names: readonly [string, string, ...string[]];
}

/** `shop/order`, `shop/order@2.0.0`, or `GET /orders/:id`. */
export function nameOf(
  named: Pick<ContractProcedure, "fqn" | "version"> | Pick<ContractRoute, "method" | "path">,
): string {
  if ("method" in named) return `${named.method} ${named.path}`;
  return named.version === unnamedVersion ? named.fqn : `${named.fqn}@${named.version}`;
}

/** The version that answers an address without a version. */
const unnamedVersion = defaultVersion.toString();

/** The part of the form that we promise; the standard defines the rest. */
export interface OpenApiDocument {
  readonly openapi: string;
  readonly info: { readonly title: string; readonly version: string };
  readonly paths: Readonly<Record<string, PathItem>>;
  readonly [field: string]: unknown;
}

type PathItem = Readonly<Record<string, unknown>>;
type Operation = { readonly operationId: string; readonly [field: string]: unknown };

/** 3.2 if there are streams, as earlier versions can't describe a stream's items; else 3.1. */
const versions = { plain: "3.1.1", streaming: "3.2.0" } as const;

/** The document of all public procedures and routes. `base` is the path below which the service is. */
export function openApiOf(whole: Contract, base = "/"): OpenApi {
  const contract = publicContract(whole);
  const streams = contract.procedures.some(({ signatures }) =>
    signatures.some((signature) => signature.streams),
  );
  const schemas = schemasOf(contract);
  const latest = new Map(contract.procedures.map(({ fqn, version }) => [fqn, version]));
  const paths = new Map<string, Record<string, unknown>>();
  const owners = new Map<string, string[]>();
  const add = (path: string, method: string, operation: Operation, owner: string): void => {
    const item = paths.get(path) ?? {};
    paths.set(path, item);
    item[method] = operation;
    owners.set(operation.operationId, [...(owners.get(operation.operationId) ?? []), owner]);
  };
  for (const procedure of contract.procedures) {
    const { fqn, version } = procedure;
    const isFirst = version === unnamedVersion;
    const path = `/rpc/${fqn.split("/").map(encodeURIComponent).join("/")}${isFirst ? "" : `@${version}`}`;
    const isOutdated = procedure.deprecated === true || latest.get(fqn) !== version;
    const own = operationsOf(procedure, { schemas, streams, isOutdated });
    for (const [method, operation] of own) add(path, method, operation, nameOf(procedure));
  }
  for (const route of contract.routes) {
    const path = templateOf(route.path, paths);
    for (const [method, operation] of routeOperations(route))
      add(path, method, operation, nameOf(route));
  }
  const tellsProblems = !contract.procedures.every((one) => needsEncoding(one, schemas));
  const tags = [...new Set(contract.procedures.flatMap(tagsOf))].map((name) => ({ name }));
  const { name = "Application", version = "0.0.0" } = contract.application;
  return {
    document: {
      openapi: streams ? versions.streaming : versions.plain,
      info: { title: name, version },
      servers: [{ url: base.replace(/(.)\/$/, "$1") }],
      // A guard decides whether callers must be signed in; the contract doesn't know how they do that.
      security: [],
      ...(tags.length > 0 && { tags }),
      paths: Object.fromEntries(paths),
      ...(contract.procedures.length > 0 && {
        components: {
          schemas: {
            ...schemas.components(),
            ...(tellsProblems && { [schemas.problem]: problemSchema }),
          },
          ...(tellsProblems && { responses: { Problem: problemResponse(schemas.problem) } }),
        },
      }),
    },
    clashes: [...owners].flatMap(([operationId, names]) =>
      names.length > 1 ? [{ operationId, names: names as [string, string, ...string[]] }] : [],
    ),
  };
}

/** Schemas of a contract's types, as they are read and as they are written. */
interface Schemas {
  read(type: Type): JsonSchema;
  written(type: Type): JsonSchema;
  /** Of an argument that travels in the encoding 'serialized'. */
  encoded(type: Type): JsonSchema;
  /** Whether values of a type hold instances. */
  holdsInstance(type: Type): boolean;
  /** The definitions that are referred to so far, directly or by another. */
  components(): Readonly<Record<string, JsonSchema>>;
  /** The name of the schema of problem details. */
  readonly problem: string;
}

function schemasOf({ definitions, classes }: Contract): Schemas {
  const types = Object.fromEntries(
    Object.entries(definitions).map(([name, { type }]) => [name, type]),
  );
  const finder = (test: (type: Type) => boolean): ((type: Type) => boolean) => {
    const known = new WeakMap<Type, boolean>();
    return (type) => reaches({ definitions: types }, type, test, known);
  };
  const differs = finder(isReadDifferently);
  const isMarked = finder(({ kind }) => marked.has(kind));
  const taken = new Map<string, string>();
  const named = (name: string, suffix: string): string => {
    // `BillInput` is another type than the input of `Bill`.
    const key = `${name} ${suffix}`;
    // Names in `components` may only have these characters.
    const plain = (name + suffix).replaceAll(/[^\w.-]/g, "_");
    let free = plain;
    for (let count = 2; (taken.get(free) ?? key) !== key; count++) free = `${plain}${count}`;
    taken.set(free, key);
    return free;
  };
  // The application's own names come first, so that no other schema can change them.
  for (const name of Object.keys(definitions).toSorted()) named(name, "");
  /** Component → its definition and form. */
  const wanted = new Map<string, { readonly name: string; readonly by: () => SchemaOptions }>();
  const options = (isWritten: boolean): SchemaOptions => ({
    refTo(name) {
      const isInput = !isWritten && differs(types[name]!);
      const component = named(name, isInput ? "Input" : "");
      if (!wanted.has(component))
        wanted.set(component, { name, by: () => (isInput ? asRead : asWritten) });
      return `#/components/schemas/${component}`;
    },
    written: isWritten,
    openApi: true,
    fieldsOf: (key) => classes[key]?.fields,
  });
  const [asRead, asWritten] = [options(false), options(true)];
  return {
    read: (type) => schemaOf(type, asRead),
    written: (type) => schemaOf(type, asWritten),
    encoded(type) {
      const { kind } = type.kind === "ref" ? types[type.to]! : type;
      return kind !== "instance" && isMarked(type) ? inEncoding("As such") : schemaOf(type, asRead);
    },
    holdsInstance: finder(({ kind }) => kind === "instance"),
    components() {
      const found = new Map<string, JsonSchema>();
      // It grows while schemas are made.
      for (const [component, { name, by }] of wanted) {
        const { type, doc } = definitions[name]!;
        found.set(component, described(schemaOf(type, by()), doc));
      }
      return Object.fromEntries([...found].sort(([one], [other]) => (one < other ? -1 : 1)));
    },
    problem: named("Problem", " details"),
  };
}

/** Kinds of values that the encoding 'serialized' marks. */
const marked: ReadonlySet<string> = new Set<Type["kind"]>([
  "bigint",
  "binary",
  "date",
  "instance",
  "map",
  "regexp",
  "set",
  "unknown",
  "url",
]);

function inEncoding(what: string): { readonly description: string } {
  return { description: `${what}, in the encoding 'serialized'` };
}

function isReadDifferently({ kind }: Type): boolean {
  return kind === "bigint" || kind === "instance" || kind === "regexp";
}

interface OperationOptions {
  readonly schemas: Schemas;
  /** Whether the document's version can describe a stream's items and QUERY. */
  readonly streams: boolean;
  readonly isOutdated: boolean;
}

function operationsOf(
  procedure: ContractProcedure,
  { schemas, streams, isOutdated }: OperationOptions,
): readonly (readonly [string, Operation])[] {
  const { fqn, version, doc, guarded, safe, signatures } = procedure;
  const names = callerNames(signatures);
  const isEncoded = needsEncoding(procedure, schemas);
  const problem = isEncoded ? inEncoding("What went wrong") : problemRef;
  const id = idOf(fqn) + (version === unnamedVersion ? "" : `_${version}`);
  const operation = {
    operationId: id,
    ...wordsOf(doc, fqn, guarded),
    tags: tagsOf(procedure),
    ...(isOutdated && { deprecated: true }),
    ...(isEncoded && { parameters: [encodingHeader] }),
    responses: {
      ...(isEncoded ? { "200": inEncoding("Its result") } : answers(procedure, schemas)),
      "400": problem,
      ...(guarded && { "401": problem, "403": problem }),
      default: problem,
    },
  };
  if (safe && names.every(fitsQuery))
    return [
      [
        "get",
        {
          ...operation,
          ...(names.length > 0 && {
            parameters: names.map((name) => ({
              name: name.name,
              in: "query",
              ...(name.optional !== true && { required: true }),
              ...(name.doc !== undefined && { description: name.doc }),
              schema: withDefault(schemas.read(name.type), name),
            })),
          }),
        },
      ],
    ];
  const body =
    names.length === 0
      ? undefined
      : bodyOf(procedure, names, isEncoded ? schemas.encoded : schemas.read);
  const withBody = { ...operation, ...(body !== undefined && { requestBody: body }) };
  return [
    ["post", withBody],
    ...(safe && streams && body !== undefined && !isForm(names)
      ? [["query", { ...withBody, operationId: `${id}_query` }] as const]
      : []),
  ];
}

/** Whether its arguments hold instances: plain JSON can't say of which class an object is. */
function needsEncoding({ signatures }: ContractProcedure, { holdsInstance }: Schemas): boolean {
  return callerNames(signatures).some(({ type }) => holdsInstance(type));
}

/** `shop/orders/order` → `shop_orders_order`. */
function idOf(fqn: string): string {
  return fqn.replaceAll("/", "_");
}

function tagsOf({ fqn }: Pick<ContractProcedure, "fqn">): readonly string[] {
  const end = fqn.lastIndexOf("/");
  return end < 0 ? [] : [fqn.slice(0, end)];
}

/** The first line of a comment is the summary. */
function wordsOf(
  doc: string | undefined,
  name: string,
  guarded: true | undefined,
): { readonly summary: string; readonly description?: string } {
  const guard = guarded ? "A guard decides who may call it." : "";
  const description = [doc ?? "", guard].filter(Boolean).join("\n\n");
  return {
    summary: doc?.split("\n", 1)[0] ?? name,
    ...(description !== "" && { description }),
  };
}

const encodingHeader = {
  name: headers.encoding,
  in: "header",
  required: true,
  schema: { const: "serialized" },
};

const problemRef = { $ref: "#/components/responses/Problem" };

/** The answers of a procedure that succeeds. */
function answers({ signatures }: ContractProcedure, schemas: Schemas): Record<string, unknown> {
  const results = signatures.map(({ result }) => result);
  const result: Type = results.length === 1 ? results[0]! : { kind: "union", arms: results };
  if (signatures.some(({ streams }) => streams))
    return {
      "200": {
        description: "Its items, one event each; an event 'end' or 'fault' comes last",
        content: {
          "text/event-stream": {
            itemSchema: {
              type: "object",
              properties: {
                event: { type: "string" },
                id: { type: "string" },
                data: {
                  type: "string",
                  contentMediaType: "application/json",
                  contentSchema: schemas.written(result),
                },
              },
            },
          },
        },
      },
    };
  const arms = flat(result);
  const [nothing, files, values] = [
    arms.filter(({ kind }) => kind === "undefined" || kind === "unknown"),
    arms.filter(isFile),
    arms.filter((arm) => arm.kind !== "undefined" && !isFile(arm)),
  ];
  const value: Type = values.length === 1 ? values[0]! : { kind: "union", arms: values };
  const content = {
    ...(values.length > 0 && { "application/json": { schema: schemas.written(value) } }),
    ...(files.length > 0 && { "application/octet-stream": {} }),
  };
  return {
    ...(Object.keys(content).length > 0 && { "200": { description: "Its result", content } }),
    ...(nothing.length > 0 && { "204": { description: "It has nothing to say" } }),
  };
}

function flat(type: Type): readonly Type[] {
  return type.kind === "union" ? type.arms.flatMap(flat) : [type];
}

function isFile({ kind }: Type): boolean {
  return kind === "file" || kind === "blob";
}

/** Whether a query can hold an argument: one text, or several under one name. */
function fitsQuery({ type, rest }: CallerName): boolean {
  if (rest) return false;
  const single = (part: Type): boolean =>
    [
      "string",
      "template",
      "number",
      "boolean",
      "bigint",
      "date",
      "url",
      "literals",
      "undefined",
    ].includes(part.kind);
  return type.kind === "array" ? flat(type.items).every(single) : flat(type).every(single);
}

function isForm(names: readonly CallerName[]): boolean {
  return names.some(({ type }) => flat(type).some((arm) => isFile(arm) || isFileList(arm)));
}

function isFileList(type: Type): boolean {
  return type.kind === "array" && flat(type.items).some(isFile);
}

function bodyOf(
  { extra }: ContractProcedure,
  names: readonly CallerName[],
  schemaOfArgument: (type: Type) => JsonSchema,
): object {
  const required = names.filter(({ optional, rest }) => !optional && !rest).map(({ name }) => name);
  const schema = {
    type: "object",
    properties: Object.fromEntries(
      names.map((name) => [
        name.name,
        described(withDefault(schemaOfArgument(name.type), name), name.doc),
      ]),
    ),
    ...(required.length > 0 && { required }),
    // A name that no parameter has is refused; of other members `extra` decides.
    additionalProperties: false,
    ...(extra === "refuse" && {
      description: "Members that no type names are refused, in its parts too.",
    }),
  };
  const type = isForm(names) ? "multipart/form-data" : "application/json";
  return { ...(required.length > 0 && { required: true }), content: { [type]: { schema } } };
}

function withDefault(schema: JsonSchema, { default: value }: CallerName): JsonSchema {
  if (value === undefined || typeof schema === "boolean") return schema;
  return { ...schema, default: jsonOf(value) };
}

const problemSchema: JsonSchema = {
  type: "object",
  description: "Problem details (RFC 9457).",
  properties: {
    type: { type: "string", format: "uri", description: "urn:seamline: and the error's name" },
    title: { type: "string", description: "The error's name" },
    status: { type: "integer" },
    detail: { type: "string", description: "Its message" },
    faults: {
      type: "array",
      items: {
        type: "object",
        properties: {
          path: { type: "string", description: "As lines[0].metres" },
          message: { type: "string" },
        },
        required: ["path", "message"],
      },
      description: "What is wrong with the arguments, one by one",
    },
    trace: {
      type: "array",
      items: { type: "string" },
      description: "The procedures on its way, the first one first",
    },
  },
  required: ["type", "title", "status"],
};

function problemResponse(schema: string): object {
  return {
    description: "What went wrong",
    content: {
      "application/problem+json": { schema: { $ref: `#/components/schemas/${schema}` } },
    },
  };
}

const methods = ["get", "post", "put", "patch", "delete"] as const;

function routeOperations(route: ContractRoute): readonly (readonly [string, Operation])[] {
  const { method, name, path, doc, guarded } = route;
  const isAny = method === "*";
  return (isAny ? methods : [method.toLowerCase()]).map((each) => [
    each,
    {
      operationId: isAny ? `${idOf(name)}_${each}` : idOf(name),
      ...wordsOf(doc, `${method} ${path}`, guarded),
      ...(each !== "get" && each !== "delete" && { requestBody: { content: { "*/*": {} } } }),
      responses: {
        "2XX": { description: "The application's own answer" },
        "4XX": { description: "The application's own answer, or a text of the service" },
      },
    },
  ]);
}

/** A route's path as a template, with the names of an equal one that is there. */
function templateOf(path: string, paths: Map<string, Record<string, unknown>>): string {
  const parts = patternParts(path);
  const written = parts.map((part) => (part.kind === "literal" ? part.text : `{${part.name}}`));
  const template = `/${written.join("/")}`;
  const form = (text: string): string => text.replaceAll(/\{[^}]*\}/g, "{}");
  const equal = [...paths.keys()].find((other) => form(other) === form(template));
  if (equal !== undefined) return equal;
  const parameters = parts.flatMap((part) =>
    part.kind === "literal"
      ? []
      : [{ name: part.name, in: "path", required: true, schema: { type: "string" } }],
  );
  paths.set(template, parameters.length > 0 ? { parameters } : {});
  return template;
}
