// The heads of calls and answers, as text: a line for each part, and two for each header field. Reading and
// writing one text is faster than its parts one by one.

import { RequestHeaderFieldsTooLarge } from "../base/errors.ts";
import { NamedMembers } from "../base/named-members.ts";
import type { HeaderFields } from "../base/ports.ts";
import { checkedHeader } from "../http/header-field.ts";
import { ProtocolError } from "./frames.ts";
import { mostCharacters, mostKept, mostQuoted } from "./limits.ts";

export interface CallHead {
  readonly method: string;
  /** Path and query. */
  readonly target: string;
  readonly headers: HeaderFields;
}

export interface AnswerHead {
  readonly status: number;
  readonly headers: HeaderFields;
}

/** The head of an answer that came over a link. */
export interface ReceivedHead extends AnswerHead {
  /** The body's length in bytes, if the head has it. */
  readonly length: number | undefined;
}

/**
 * Another service's answer isn't valid HTTP. Sent on, it would fail later, or change what the next caller
 * reads. Only its call fails.
 */
export class BadAnswerError extends Error {
  override readonly name: string = "BadAnswerError";
}

/** Throws `RequestHeaderFieldsTooLarge`, and a `TypeError` for invalid fields. */
export function callHead({ method, target, headers }: CallHead): string {
  const head = `${line(method)}\n${line(target)}${lines(headers)}`;
  if (head.length <= mostCharacters) return head;
  throw new RequestHeaderFieldsTooLarge(
    `The path and headers have ${head.length} characters, and services pass on ${mostCharacters}`,
  );
}

/** Throws a `TypeError` for invalid or too long fields. */
export function answerHead({ status, headers }: AnswerHead): string {
  const head = `${status}${writtenLines.of(headers, lines)}`;
  if (head.length <= mostCharacters) return head;
  throw new TypeError(
    `An answer's headers have ${head.length} characters, and a link carries ${mostCharacters}: send less in them`,
  );
}

/** Throws a {@link ProtocolError}. */
export function readCallHead(text: string): CallHead {
  const first = lineEnd(text, 0);
  const second = lineEnd(text, first + 1);
  const method = text.slice(0, first);
  const target = text.slice(first + 1, second);
  if (!isMethod.test(method) || !target.startsWith("/"))
    throw new ProtocolError("A call without a method and a path");
  return { method, target, headers: fieldsOf(text, second + 1) };
}

/**
 * Caches a result computed from header fields: nearly all answers have the same few fields. Only frozen fields
 * are cached, as they can't change, and at most eight of them.
 */
export class SameFields<Made> {
  readonly #fields: HeaderFields[] = [];
  readonly #made: Made[] = [];
  #next = 0;

  of(fields: HeaderFields, make: (fields: HeaderFields) => Made): Made {
    const at = this.#fields.indexOf(fields);
    if (at >= 0) return this.#made[at] as Made;
    const made = make(fields);
    if (!Object.isFrozen(fields)) return made;
    this.#fields[this.#next] = fields;
    this.#made[this.#next] = made;
    this.#next = (this.#next + 1) % 8;
    return made;
  }
}

const writtenLines = new SameFields<string>();

/** Earlier heads by their length modulo 16: their texts, and the heads that were read from those that came twice. */
const heads: { readonly text: string; head: ReceivedHead | undefined }[] = [];

/**
 * The fields of a cached head are frozen. Throws a {@link BadAnswerError}, and a {@link ProtocolError} for
 * text that isn't a head.
 */
export function readAnswerHead(text: string): ReceivedHead {
  const place = text.length % 16;
  const kept = heads[place];
  if (kept?.text !== text) {
    if (text.length <= mostKept) heads[place] = { text, head: undefined };
    return newAnswerHead(text);
  }
  if (kept.head === undefined) {
    kept.head = newAnswerHead(text);
    Object.freeze(kept.head.headers);
  }
  return kept.head;
}

function newAnswerHead(text: string): ReceivedHead {
  const end = lineEnd(text, 0);
  const headers = fieldsOf(text, end + 1);
  if (!isAnswer.test(text)) throw new BadAnswerError(problemOf(text.slice(0, end), headers));
  const length = headers["content-length"];
  if (length !== undefined && !isLength.test(String(length)))
    throw new BadAnswerError(`a content-length of ${quoted(String(length))}`);
  return {
    status: Number(text.slice(0, end)),
    headers,
    length: length === undefined ? undefined : Number(length),
  };
}

/** Describes the part that {@link isAnswer} doesn't match. */
function problemOf(status: string, fields: HeaderFields): string {
  if (!isStatus.test(status)) return `the status ${quoted(status)}`;
  for (const name in fields) {
    try {
      for (const value of [fields[name]].flat())
        if (checkedHeader(name, value) !== name)
          return `the header ${quoted(name)}, whose name isn't in lower case`;
    } catch (error) {
      return (error as Error).message.slice(0, mostQuoted);
    }
  }
  return "invalid header fields";
}

const quoted = (text: string): string => JSON.stringify(text.slice(0, mostQuoted));

const isMethod = /^[A-Z]{1,20}$/;
/** 1xx aren't answers: they only announce one. */
const isStatus = /^[2-5]\d\d$/;
/**
 * A status and fields as HTTP allows them, with names in lower case. One pattern for the whole head takes less
 * time than a test for each name and value.
 */
const isAnswer = /^[2-5]\d\d(?:\n[-!#$%&'*+.^_`|~\da-z]+\n[\t\x20-\x7e\x80-\xff]*)*$/;
/** At most as many digits as a number holds exactly. */
const isLength = /^\d{1,15}$/;

/** The end of the line that begins at `from`. */
function lineEnd(text: string, from: number): number {
  const end = text.indexOf("\n", from);
  return end < 0 ? text.length : end;
}

function lines(fields: HeaderFields): string {
  let text = "";
  for (const name in fields) {
    const value = fields[name];
    if (value === undefined) continue;
    if (typeof value === "string") text += `\n${line(name)}\n${line(value)}`;
    else for (const each of value) text += `\n${line(name)}\n${line(each)}`;
  }
  return text;
}

/** A line break in a field would make two fields of it. */
function line(text: string): string {
  // Faster than `includes`, and than a count in the whole text.
  if (text.indexOf("\n") >= 0) throw new TypeError("A head has a line break in a field");
  return text;
}

function fieldsOf(text: string, from: number): HeaderFields {
  // Names come from the other end.
  const fields = new NamedMembers<string | readonly string[]>();
  for (let at = from; at < text.length;) {
    const middle = text.indexOf("\n", at);
    if (middle < 0) throw new ProtocolError("A header field without a value");
    const end = lineEnd(text, middle + 1);
    const name = text.slice(at, middle);
    const value = text.slice(middle + 1, end);
    if (name === "__proto__") throw new ProtocolError("Invalid header name '__proto__'");
    const earlier = fields[name];
    if (name === "set-cookie") fields[name] = [...((earlier as readonly string[]) ?? []), value];
    // As Node joins them. Two content-lengths become an invalid one.
    else fields[name] = earlier === undefined ? value : `${String(earlier)}, ${value}`;
    at = end + 1;
  }
  return fields;
}
