// The heads of calls and answers, as text: a line for each part, and two for each header field. One
// text is read and written faster than its parts.

import { RequestHeaderFieldsTooLarge } from "../base/errors.ts";
import type { HeaderFields } from "../base/ports.ts";
import { checkedHeader } from "../http/header-field.ts";
import { ProtocolError } from "./frames.ts";

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

/** An answer's head, as it was read. */
export interface ReceivedHead extends AnswerHead {
  /** How many bytes the head says that there are. */
  readonly length: number | undefined;
}

/**
 * What another service answered can't be an answer of HTTP. It would fail where it is sent on, or change
 * what the next caller reads. Only its call fails.
 */
export class BadAnswerError extends Error {
  override readonly name: string = "BadAnswerError";
}

/** A frame holds a head and a body of 64 KiB, and a character may have three bytes. */
const mostCharacters = 60_000;

/** Throws `RequestHeaderFieldsTooLarge`, and a `TypeError` for what no head can hold. */
export function callHead({ method, target, headers }: CallHead): string {
  const head = `${checkedBreaks(`${method}\n${target}`, 1)}${lines(headers)}`;
  if (head.length <= mostCharacters) return head;
  throw new RequestHeaderFieldsTooLarge(
    `The path and headers have ${head.length} characters, and services pass on ${mostCharacters}`,
  );
}

/** Throws a `TypeError` for what no head can hold. */
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
 * What is made of header fields, for those that come again and again: nearly all answers have the same few.
 * It is kept of frozen ones only, which can't change, and of no more than eight of them.
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

/** Longer heads aren't kept. */
const mostKept = 1_000;
/** Texts of heads that came before, at their length modulo 16, and what they say if they came twice. */
const heads: { readonly text: string; head: ReceivedHead | undefined }[] = [];

/**
 * The fields of a head that came before are frozen. Throws a {@link BadAnswerError}, and a
 * {@link ProtocolError} for what isn't a head.
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

/** Says what {@link isAnswer} doesn't match. */
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
  return "such fields";
}

/** Of what another service sent, in a message. */
const mostQuoted = 200;
const quoted = (text: string): string => JSON.stringify(text.slice(0, mostQuoted));

const isMethod = /^[A-Z]{1,20}$/;
/** Of an answer: 1xx only announce one. */
const isStatus = /^[2-5]\d\d$/;
/**
 * A status and fields as HTTP has them. Names are in lower case, where they are looked for. All at once:
 * that takes less than a test for each name and value.
 */
const isAnswer = /^[2-5]\d\d(?:\n[-!#$%&'*+.^_`|~\da-z]+\n[\t\x20-\x7e\x80-\xff]*)*$/;
/** As many digits as a number holds exactly. */
const isLength = /^\d{1,15}$/;

/** Where a line ends that begins here. */
function lineEnd(text: string, from: number): number {
  const end = text.indexOf("\n", from);
  return end < 0 ? text.length : end;
}

function lines(fields: HeaderFields): string {
  let text = "";
  let breaks = 0;
  for (const name in fields) {
    const value = fields[name];
    if (value === undefined) continue;
    if (typeof value === "string") {
      text += `\n${name}\n${value}`;
      breaks += 2;
      continue;
    }
    for (const each of value) text += `\n${name}\n${each}`;
    breaks += 2 * value.length;
  }
  return checkedBreaks(text, breaks);
}

/** A line break in a field would make two of it. All at once: that takes less than a look at each. */
function checkedBreaks(text: string, expected: number): string {
  let breaks = 0;
  for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) breaks++;
  if (breaks !== expected) throw new TypeError("A head has a line break in a field");
  return text;
}

/**
 * Names come from the other end, and none of them may be one that every object inherits. An object that
 * inherits from an empty one has none either, and is much quicker than one that inherits from nothing.
 */
function Fields(this: object): void {}
Fields.prototype = Object.create(null) as object;
const NewFields = Fields as unknown as new () => Record<string, string | readonly string[]>;

function fieldsOf(text: string, from: number): HeaderFields {
  const fields = new NewFields();
  for (let at = from; at < text.length;) {
    const middle = text.indexOf("\n", at);
    if (middle < 0) throw new ProtocolError("A header field without a value");
    const end = lineEnd(text, middle + 1);
    const name = text.slice(at, middle);
    const value = text.slice(middle + 1, end);
    if (name === "__proto__") throw new ProtocolError("A header field that is none");
    const earlier = fields[name];
    if (name === "set-cookie") fields[name] = [...((earlier as readonly string[]) ?? []), value];
    // As Node joins them. Two lengths are none then.
    else fields[name] = earlier === undefined ? value : `${String(earlier)}, ${value}`;
    at = end + 1;
  }
  return fields;
}
