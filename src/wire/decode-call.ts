// Decodes the arguments of a call from its request.

import type { Args } from "../base/call.ts";
import { BadRequest, UnsupportedEncoding } from "../base/errors.ts";
import { refusedArguments } from "../base/faults.ts";
import type { ExtraMembers, Parameter } from "../base/manifest.ts";
import type { InstanceParts, ParameterTypes, ValueSource } from "../base/parameter-types.ts";
import { convertFields, convertQuery } from "../runtime/parameters.ts";
import { versionParameter } from "../base/protocol.ts";
import type { Classes } from "../codec/classes.ts";
import type { Limits } from "../base/limits.ts";
import { Described } from "../codec/described.ts";
import { buildInstance } from "../codec/instance.ts";
import { loadNamed } from "../codec/named-classes.ts";
import { parseMultipart, type Part, textOf } from "../codec/multipart/parse-multipart.ts";
import { argumentsText, fieldsOf, PartReader, refuseParts } from "../codec/multipart/read-parts.ts";
import { type DecodeOptions, decodeMembers } from "../codec/serialized.ts";
import { type Parsed, parseText } from "../codec/values/text.ts";
import { bodyLimit, type BodyType, bodyTypeOf, checkBodyType, mayBeEmpty } from "./body-type.ts";
import { headerText } from "./encoding.ts";
import type { Exchange } from "./exchange.ts";
import { loadedSuperjson, loadSuperjson } from "./superjson.ts";

/** The parts of a call that hold its arguments: its query, or its body, which this reads. */
export type ReadCall = Pick<
  Exchange,
  "request" | "query" | "encoding" | "trust" | "masksErrors" | "receiveBody"
>;

export interface DecodeCallOptions {
  readonly classes: Classes;
  readonly limits: Limits;
}

const noBytes = new Uint8Array();

/** The arguments of a call, as they come and as they are decoded. */
export class CallArguments {
  readonly #call: ReadCall;
  readonly #options: DecodeCallOptions;
  readonly #type: BodyType;
  #body: Uint8Array;
  /** The body, if it had to be parsed to find the classes to load. */
  #parsed: Parsed | undefined;
  #parts: readonly Part[] | undefined;
  #hasInstances = false;

  /** `body` is the call's body, if it is here already. */
  constructor(call: ReadCall, options: DecodeCallOptions, body: Uint8Array = noBytes) {
    this.#call = call;
    this.#options = options;
    this.#body = body;
    this.#type = bodyTypeOf(call.request.headers);
  }

  /** The source of its values. */
  get source(): ValueSource {
    const { encoding, request } = this.#call;
    if (request.method === "GET" || (this.isMultipart && encoding === "plain")) return "fields";
    return encoding === "plain" ? "json" : "encoded";
  }

  /** No object of the message comes twice, or contains itself. Constructors may make instances that do. */
  get isTree(): boolean {
    return this.#call.encoding !== "superjson" && !this.#hasInstances;
  }

  get isMultipart(): boolean {
    return this.#type === "multipart";
  }

  /** The parts of a multipart body, once it has been parsed. */
  get parts(): readonly Part[] {
    return this.#parts ?? [];
  }

  /** The body, once it is here. A GET doesn't have one. */
  get body(): Uint8Array {
    return this.#body;
  }

  /**
   * Reads the body. Returns `undefined` if there is nothing to wait for. Throws or rejects if the body's type or
   * size is wrong.
   */
  receive(): Promise<void> | undefined {
    const { method, headers } = this.#call.request;
    if (method === "GET") return undefined;
    // Refuse a wrong type before the body arrives.
    if (method === "QUERY" || !mayBeEmpty(headers)) checkBodyType(this.#type, this.#call.request);
    const limit = bodyLimit(this.#type, this.#options.limits);
    return this.#call.receiveBody(limit, (body) => {
      this.#body = body;
    });
  }

  /**
   * Loads superjson and the classes that the body names, since {@link read} can't wait. Returns `undefined` if
   * there is nothing to load. Throws as {@link read}.
   */
  load(): Promise<void> | undefined {
    const { encoding, request } = this.#call;
    if (encoding === "plain" || request.method === "GET" || this.#body.length === 0)
      return undefined;
    return encoding === "superjson" || this.#options.classes.load !== undefined
      ? this.#load()
      : undefined;
  }

  async #load(): Promise<void> {
    const { classes } = this.#options;
    const { encoding } = this.#call;
    if (encoding === "superjson") await loadSuperjson();
    if (classes.load === undefined) return;
    const body = (this.#parsed = this.#parse());
    // Without forms, only superjson can name a class.
    if (body !== undefined && (body.hasForms || encoding === "superjson"))
      await loadNamed(body.tree, classes);
  }

  /**
   * The arguments. The text of a query or form is read by the types of parameters if they are given. Without a
   * procedure (in a gateway) it stays text. Each time they are decoded anew.
   */
  read(
    procedure: { readonly parameters: readonly Parameter[] } | undefined,
    types?: ParameterTypes,
    extra: ExtraMembers = "drop",
  ): Args {
    const { request, query, encoding, trust } = this.#call;
    const { limits } = this.#options;
    const parameters = procedure?.parameters ?? [];
    // The version isn't an argument, even if the procedure has a parameter of that name.
    const queryValues = (): [string, string][] =>
      [...new URLSearchParams(query)].filter(([name]) => name !== versionParameter);
    if (request.method === "GET") return convertQuery(parameters, queryValues(), limits, types);
    // Nothing but the version is read from the query of a POST, but its parameters are counted. A
    // query that is shorter than the limit can't have too many.
    if (query.length > limits.maxQueryParameters) convertQuery([], queryValues(), limits);
    const body = this.#parsed ?? this.#parse();
    this.#parsed = undefined;
    if (body === undefined)
      return this.isMultipart
        ? convertFields(parameters, fieldsOf(this.#readParts(), limits), { limits, types })
        : new Map();
    return types === undefined || trust.inner || encoding === "plain"
      ? this.#decode(body)
      : this.#decodeJudged(body, types, extra);
  }

  /** Has the types judge all instances of the message before any of them is built. */
  #decodeJudged(body: Parsed, types: ParameterTypes, extra: ExtraMembers): Args {
    const { classes } = this.#options;
    const { encoding, masksErrors } = this.#call;
    const described = new Described();
    const args = this.#decode(body, described.add);
    const { all } = described;
    if (all.size === 0) return args;
    this.#hasInstances = true;
    described.finish();
    const judgement = types.judge(args, all, {
      masked: masksErrors,
      // superjson may set parts of an instance after it is built, so they can't be copied before.
      extra: encoding === "superjson" && extra === "drop" ? "refuse" : extra,
      isInstance(key, value) {
        const standsFor = all.get(value);
        if (standsFor === undefined) return classes.isInstance(key, value);
        return standsFor.key === key || classes.isInstance(key, standsFor.prototype);
      },
    });
    if ("refusal" in judgement) throw refusedArguments(judgement.refusal);
    const build: DecodeOptions["build"] = (known, given, values) => {
      const parts = { args: given as InstanceParts["args"], fields: values };
      const { args: own, fields } = types.withoutExtra(known.record.key, parts, classes.isInstance);
      return buildInstance(known, own, fields);
    };
    // Decoding has changed the tree.
    return this.#decode(this.#parse()!, judgement.hasExtra ? build : undefined);
  }

  #decode(body: Parsed, build?: DecodeOptions["build"]): Args {
    const { classes, limits } = this.#options;
    const { encoding, trust } = this.#call;
    const { trusted } = trust;
    if (encoding === "superjson")
      return loadedSuperjson().decodeSuperjsonMembers(body, { classes, limits, trusted, build });
    // Of a multipart call.
    const files = this.#parts && new PartReader(this.#parts);
    // Without a spread, which takes more time than the rest of this.
    const args = decodeMembers(body, {
      classes,
      limits,
      trusted,
      build,
      path: "args",
      plain: encoding === "plain",
      files: files?.read ?? refuseParts,
    });
    // Instances that this service doesn't open may hold forms, too.
    if (classes.passOn === undefined) files?.finish();
    return args;
  }

  #readParts(): readonly Part[] {
    if (this.#body.length === 0) return [];
    const { request } = this.#call;
    checkBodyType(this.#type, request);
    const type = headerText(request.headers["content-type"]);
    return (this.#parts ??= parseMultipart(this.#body, type, this.#options.limits));
  }

  /** `undefined` for an empty body, and for a form that isn't in an encoding of ours. */
  #parse(): Parsed | undefined {
    const { limits } = this.#options;
    const { encoding, request } = this.#call;
    if (this.#body.length === 0 && mayBeEmpty(request.headers)) return undefined;
    checkBodyType(this.#type, request);
    if (this.isMultipart) {
      if (encoding === "plain") return undefined;
      if (encoding === "superjson")
        throw new UnsupportedEncoding("A multipart call is in the serialized encoding, or in none");
      return parseText(argumentsText(this.#readParts(), limits), limits);
    }
    const text = textOf(this.#body, () => new BadRequest("The body is not UTF-8"));
    return text === "" ? undefined : parseText(text, limits);
  }
}
