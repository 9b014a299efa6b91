// Decodes the response to a call: returns the value, or throws the error.

import {
  BadGateway,
  frameworkErrors,
  InvalidSerializedValue,
  NodeNotAvailable,
} from "../base/errors.ts";
import type { Answer } from "../types/outgoing-call.ts";
import type { IncomingResponse } from "../base/ports.ts";
import { headers, jsonType } from "../base/protocol.ts";
import type { ClassTable } from "../codec/class-table.ts";
import { unlimited } from "../base/limits.ts";
import { loadNamed } from "../codec/named-classes.ts";
import { decodeParsed } from "../codec/serialized.ts";
import { setRanOn } from "../base/trace.ts";
import { loadSuperjson } from "./superjson.ts";

/** A class of the framework's errors. */
export type ErrorClass = new (message: string) => Error;

export interface AnswerOptions {
  readonly classes: ClassTable;
  /** Only for plain calls: makes an error of the answer's text. */
  readonly errorOfText?: (text: string, status: number, type: ErrorClass | undefined) => Error;
  /** Called with the error before it's thrown. */
  readonly onError?: ((error: unknown, response: IncomingResponse) => void) | undefined;
}

// Most often, a page imports the class only as a type.
const unreadable = (cause: Error): BadGateway =>
  new BadGateway(
    `The answer can't be read: ${cause.message}${/there is no class/.test(cause.message) ? " here. Import it by value (no 'import type') or name its module in browserModules" : ""}`,
    { cause },
  );

/**
 * The value of a response. Throws the error that it carries, or BadGateway if a procedure can't
 * have sent it.
 */
export async function decodeAnswer(
  response: IncomingResponse,
  { classes, errorOfText, onError }: AnswerOptions,
): Promise<Answer> {
  const { status } = response;
  const field = (name: string): string => String(response.headers[name] ?? "");
  const node = field(headers.node);
  const text = (): string => new TextDecoder("utf-8", { ignoreBOM: true }).decode(response.body);
  // Without a cause: a parser's message quotes the response, and outsiders may see this error.
  const unexpected = (): BadGateway =>
    new BadGateway(
      `A service answered ${status} with '${field("content-type").slice(0, 64)}', which is not an answer to a call`,
    );
  const superjson = field(headers.encoding) === "superjson";
  const isJson = field("content-type").startsWith(jsonType);
  const decode = async (): Promise<unknown> => {
    const tree: unknown = JSON.parse(text());
    await loadNamed(tree, classes);
    const options = {
      classes,
      // The response is from a service that we called. Limits are for untrusted senders.
      limits: unlimited,
      trusted: true,
      plain: errorOfText !== undefined,
      path: "result",
      status,
    };
    return superjson
      ? (await loadSuperjson()).decodeSuperjson({ tree }, options)
      : decodeParsed(tree, options);
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
        throw unexpected();
      }
    }
  };
  const failure = async (): Promise<unknown> => {
    if (isJson && !errorOfText) {
      const error = await decode();
      if (error instanceof Error) return error;
    }
    const type = frameworkErrors.get(field(headers.error));
    return errorOfText?.(text(), status, type) ?? (type ? new type(text()) : unexpected());
  };
  let thrown: unknown;
  try {
    if (status >= 200 && status < 300)
      return { value: await read(), ...(node === "" ? {} : { node }) };
    thrown = await failure();
  } catch (cause) {
    if (cause instanceof InvalidSerializedValue) thrown = unreadable(cause);
    // NodeNotAvailable: classes or superjson couldn't be loaded. The response may be valid.
    else
      thrown =
        cause instanceof BadGateway || cause instanceof NodeNotAvailable ? cause : unexpected();
  }
  if (node !== "") setRanOn(thrown as object, node);
  onError?.(thrown, response);
  throw thrown;
}
