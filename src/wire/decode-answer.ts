// From an answer of the RPC door back to the value, or to the error, thrown (decisions §2 responses, §4).

import {
  BadGateway,
  frameworkErrors,
  InvalidSerializedValue,
  NodeNotAvailable,
} from "../errors.ts";
import type { IncomingResponse } from "../ports.ts";
import { headers, jsonType } from "../protocol.ts";
import type { ClassTable } from "../serializer/class-table.ts";
import { loadNamed } from "../serializer/named-classes.ts";
import { decodeParsed } from "../serializer/serialized.ts";
import { setRanOn } from "../trace.ts";
import { loadSuperjson } from "./superjson.ts";

/** What a procedure elsewhere returned, and the name of the node that ran it, if it has one. */
export interface Answer {
  readonly value: unknown;
  readonly node?: string;
}

/** A class of the framework's errors. */
export type ErrorClass = new (message: string) => Error;

export interface AnswerOptions {
  readonly classes: ClassTable;
  /** The call did not ask for an encoding: what makes errors of the texts that answer it. */
  readonly errorOfText?: (text: string, status: number, known: ErrorClass | undefined) => Error;
  /** Hears of the error before it is thrown. */
  readonly onError?: ((error: unknown, response: IncomingResponse) => void) | undefined;
}

// The reader is most often somebody whose page has the class as a type only.
const unreadable = (cause: Error): BadGateway =>
  new BadGateway(
    `The answer can't be read: ${cause.message}${/there is no class/.test(cause.message) ? " here. Import it by value (no 'import type') or name its module in clientModules" : ""}`,
    { cause },
  );

/** The value of an answer. Throws the error that it carries, or BadGateway when it is no answer of a procedure. */
export async function decodeAnswer(
  response: IncomingResponse,
  options: AnswerOptions,
): Promise<Answer> {
  const { status } = response;
  const field = (name: string): string => String(response.headers[name] ?? "");
  const node = field(headers.node);
  const text = (): string => new TextDecoder("utf-8", { ignoreBOM: true }).decode(response.body);
  // Without a cause: what a parser says of an answer quotes it, and this error may go on to outsiders.
  const senseless = (): BadGateway =>
    new BadGateway(
      `A service answered ${status} with '${field("content-type").slice(0, 64)}', which is no answer to a call`,
    );
  const superjson = field(headers.encoding) === "superjson";
  const isJson = field("content-type").startsWith(jsonType);
  const decode = async (): Promise<unknown> => {
    const json = text();
    const tree: unknown = JSON.parse(json);
    const { classes, errorOfText } = options;
    await loadNamed(tree, classes);
    // The answer comes from a service that we asked: what strangers may send at most doesn't count.
    const limits = { depth: Infinity, values: Infinity, objects: Infinity, digits: Infinity };
    const reading = {
      classes,
      limits,
      trusted: true,
      plain: errorOfText !== undefined,
      path: "result",
      status,
    };
    return superjson
      ? (await loadSuperjson()).decodeSuperjson(json, reading, tree)
      : decodeParsed(tree, json, reading);
  };
  const read = async (): Promise<unknown> => {
    const type = superjson ? "object" : status === 204 ? "undefined" : field(headers.dataType);
    switch (type) {
      case "undefined":
        return undefined;
      case "null":
        return null;
      case "string":
        return isJson ? String(JSON.parse(text())) : text();
      case "binary":
        return response.body;
      case "object":
        return await decode();
      default: {
        const content = text();
        if (type === "boolean" && /^(true|false)$/.test(content)) return content === "true";
        if (type === "bigint" && /^-?\d+$/.test(content)) return BigInt(content);
        if (
          type === "number" &&
          (content === "NaN" || (content !== "" && !Number.isNaN(Number(content))))
        )
          return Number(content);
        throw senseless();
      }
    }
  };
  const failure = async (): Promise<unknown> => {
    if (isJson && !options.errorOfText) {
      const error = await decode();
      if (error instanceof Error) return error;
    }
    const known = frameworkErrors.get(field(headers.error));
    return (
      options.errorOfText?.(text(), status, known) ?? (known ? new known(text()) : senseless())
    );
  };
  let thrown: unknown;
  try {
    if (status >= 200 && status < 300)
      return { value: await read(), ...(node === "" ? {} : { node }) };
    thrown = await failure();
  } catch (cause) {
    if (cause instanceof InvalidSerializedValue) thrown = unreadable(cause);
    // The answer may be a good one, if classes or superjson couldn't be loaded to read it.
    else
      thrown =
        cause instanceof BadGateway || cause instanceof NodeNotAvailable ? cause : senseless();
  }
  if (node !== "") setRanOn(thrown as object, node);
  options.onError?.(thrown, response);
  throw thrown;
}
