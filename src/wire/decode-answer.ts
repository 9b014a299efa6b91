// From an answer of the RPC door back to the value, or to the error, thrown (decisions §2 responses, §4).

import { BadGateway, frameworkErrors, InvalidSerializedValue } from "../errors.ts";
import type { IncomingResponse } from "../ports.ts";
import { headers, jsonType } from "../protocol.ts";
import type { ClassSource } from "../serializer/classes.ts";
import { nearestError } from "../serializer/error-form.ts";
import { decodeParsed } from "../serializer/serialized.ts";
import { setRanOn, setTrace } from "../trace.ts";
import { loadSuperjson } from "./superjson.ts";

/** What a procedure elsewhere returned, and the name of the node that ran it, if it has one. */
export interface Answer {
  readonly value: unknown;
  readonly node?: string;
}

export interface AnswerOptions {
  readonly classes: ClassSource;
  /** The call did not ask for the encoding. */
  readonly plain?: boolean;
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
export async function decodeAnswer(response: IncomingResponse, options: AnswerOptions): Promise<Answer> {
  const { status } = response;
  const field = (name: string): string => String(response.headers[name] ?? "");
  const node = field(headers.node);
  const text = (): string => new TextDecoder("utf-8", { ignoreBOM: true }).decode(response.body);
  const senseless = (cause?: unknown): BadGateway =>
    new BadGateway(`A service answered ${status} with '${field("content-type").slice(0, 64)}', which is no answer to a call`, { cause });
  const superjson = field(headers.encoding) === "superjson";
  const decode = async (): Promise<unknown> => {
    const json = text();
    if (options.classes !== "opaque" && options.classes.load && /"key"|"class"/.test(json)) await options.classes.load(json);
    // The answer comes from a service that we asked: what strangers may send at most doesn't count.
    const limits = { depth: Infinity, values: Infinity, objects: Infinity, digits: Infinity };
    const reading = { ...options, limits, trusted: true, path: "result", status };
    return superjson ? (await loadSuperjson()).decodeSuperjson(json, reading) : decodeParsed(JSON.parse(json), json, reading);
  };
  const read = async (): Promise<unknown> => {
    const type = superjson ? "object" : status === 204 ? "undefined" : field(headers.dataType);
    switch (type) {
      case "undefined":
        return undefined;
      case "null":
        return null;
      case "string":
        return text();
      case "binary":
        return response.body;
      case "object":
        return await decode();
      default: {
        const content = text();
        if (type === "boolean" && /^(true|false)$/.test(content)) return content === "true";
        if (type === "bigint" && /^-?\d+$/.test(content)) return BigInt(content);
        if (type === "number" && (content === "NaN" || (content !== "" && !Number.isNaN(Number(content))))) return Number(content);
        throw senseless();
      }
    }
  };
  const failure = async (): Promise<unknown> => {
    if (field("content-type").startsWith(jsonType) && !options.plain) {
      const error = await decode();
      if (error instanceof Error) return error;
    }
    const known = frameworkErrors.get(field(headers.error));
    return known || options.plain ? errorOfText(text(), status, known) : senseless();
  };
  let thrown: unknown;
  try {
    if (status >= 200 && status < 300) return { value: await read(), ...(node === "" ? {} : { node }) };
    thrown = await failure();
  } catch (cause) {
    thrown = cause instanceof BadGateway ? cause : cause instanceof InvalidSerializedValue ? unreadable(cause) : senseless(cause);
  }
  if (node !== "") setRanOn(thrown as object, node);
  options.onError?.(thrown, response);
  throw thrown;
}

/** The error of a plain answer: the message, then the trace lines; the class as it is named, else by its status. */
function errorOfText(text: string, status: number, known: (new (message: string) => Error) | undefined): Error {
  const lines = text.split("\n");
  let end = lines.length;
  while (end > 1 && /^(\[\S+ \| v[\d.]+\]|… \d+ more)$/.test(lines[end - 1] ?? "")) end--;
  const message = lines.slice(0, end).join("\n");
  const error = known ? new known(message) : nearestError(status, message);
  setTrace(error, lines.slice(end));
  return error;
}
