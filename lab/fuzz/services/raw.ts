// Requests as bytes, valid ones and what becomes of them on a hostile connection.

import { connect } from "node:net";
import type { Random } from "../random.ts";

export interface ValidRequest {
  readonly head: string;
  readonly body: string;
  readonly status: number;
  readonly answer?: string;
}

const host = "Host: localhost";
const jsonType = "Content-Type: application/json";

const withLength = (lines: readonly string[], body: string): string =>
  [...lines, `Content-Length: ${Buffer.byteLength(body, "latin1")}`, "", ""].join("\r\n");

/** Splits a body into chunks. */
export function chunked(random: Random, body: string): string {
  let text = "";
  for (let at = 0; at < body.length;) {
    const size = 1 + random.below(20);
    const chunk = body.slice(at, at + size);
    text += `${chunk.length.toString(16)}${random.once(8) ? ";a=b" : ""}\r\n${chunk}\r\n`;
    at += size;
  }
  return `${text}0\r\n${random.once(8) ? "X-Trailer: a\r\n" : ""}\r\n`;
}

const form = ["--b", 'Content-Disposition: form-data; name="value"', "", "text", "--b--", ""].join(
  "\r\n",
);

/** A request that has one right answer. */
export function validRequest(random: Random): ValidRequest {
  const json = `{"value":"${"a".repeat(random.few(300))}"}`;
  const echo = ["POST /rpc/a/echo HTTP/1.1", host, jsonType];
  const answer = json.slice(10, -2);
  switch (random.below(7)) {
    case 0:
      return { head: `GET /rpc/a/add?a=1&b=2 HTTP/1.1\r\n${host}\r\n\r\n`, body: "", status: 200 };
    case 1:
      return {
        head: `${[...echo, "Transfer-Encoding: chunked"].join("\r\n")}\r\n\r\n`,
        body: chunked(random, json),
        status: 200,
        answer,
      };
    case 2:
      return {
        head: `GET /health/live HTTP/1.1\r\n${host}\r\nX-A: b\r\n\r\n`,
        body: "",
        status: 200,
        answer: "true",
      };
    case 3: {
      const body = '{"url":"http://a","procedures":[]}';
      return {
        head: withLength(["POST /nodes HTTP/1.1", host, jsonType], body),
        body,
        // Those that have no members answer 404.
        status: 0,
      };
    }
    case 4: {
      const type = "Content-Type: multipart/form-data; boundary=b";
      return {
        head: withLength(["POST /rpc/a/echo HTTP/1.1", host, type], form),
        body: form,
        status: 200,
        answer: "text",
      };
    }
    default:
      return { head: withLength(echo, json), body: json, status: 200, answer };
  }
}

/** How the bytes are written, and how the connection ends. */
export interface Delivery {
  /** Where the bytes are split. */
  readonly splits?: readonly number[];
  readonly ending: "wait" | "half-close" | "destroy" | "reset";
  /** Answers to wait for; without it, until nothing came for a while. */
  readonly answers?: number;
}

const quietMs = 40;
/** An answer takes no longer, on a machine that has time for it. */
export const longestMs = 3_000;

/** The answer's bytes as Latin-1, and whether the service closed the connection. */
export function deliver(
  port: number,
  bytes: Buffer,
  { splits = [], ending, answers }: Delivery,
  waitMs: number = longestMs,
): Promise<{ readonly text: string; readonly isLate: boolean }> {
  return new Promise((resolve) => {
    const socket = connect({ port, host: "127.0.0.1", noDelay: true });
    const chunks: Buffer[] = [];
    let quiet: NodeJS.Timeout | undefined;
    let isLate = false;
    const finish = (): void => {
      clearTimeout(quiet);
      clearTimeout(limit);
      socket.destroy();
      resolve({ text: Buffer.concat(chunks).toString("latin1"), isLate });
    };
    const limit = setTimeout(() => {
      isLate = answers !== undefined;
      finish();
    }, waitMs);
    const rest = (): void => {
      clearTimeout(quiet);
      quiet = setTimeout(finish, quietMs);
    };
    socket.on("data", (chunk) => {
      chunks.push(chunk);
      if (answers === undefined) rest();
      else if (answersIn(Buffer.concat(chunks).toString("latin1")).length >= answers) finish();
    });
    // A reset counts as the end of the connection.
    socket.on("error", finish);
    socket.on("close", finish);
    const points = [...splits, bytes.length].filter((at) => at <= bytes.length);
    let from = 0;
    const write = (): void => {
      const to = points.shift();
      if (socket.destroyed) return;
      if (to === undefined) return end();
      socket.write(bytes.subarray(from, to));
      from = to;
      // Later than the write, so that the service reads it alone.
      setImmediate(write);
    };
    const end = (): void => {
      if (ending === "destroy") finish();
      else if (ending === "reset") socket.resetAndDestroy();
      else if (ending === "half-close") socket.end();
      if (answers === undefined) rest();
    };
    socket.once("connect", write);
  });
}

export interface RawAnswer {
  readonly status: number;
  readonly head: string;
  readonly body: string;
}

/** The complete answers at the beginning of what a connection returned. */
export function answersIn(text: string): RawAnswer[] {
  const answers: RawAnswer[] = [];
  let rest = text;
  for (;;) {
    const end = rest.indexOf("\r\n\r\n");
    const status = Number(/^HTTP\/1\.1 (\d{3})/.exec(rest)?.[1] ?? 0);
    if (end < 0 || status === 0) return answers;
    const head = rest.slice(0, end);
    const length = /\r\ncontent-length: (\d+)/i.exec(head)?.[1];
    const isChunked = /\r\ntransfer-encoding: chunked/i.test(head);
    let size = Number(length ?? 0);
    if (isChunked) {
      const last = /^0\r\n\r\n|\r\n0\r\n\r\n/.exec(rest.slice(end + 4));
      if (last === null) return answers;
      size = last.index + last[0].length;
    }
    if (rest.length < end + 4 + size) return answers;
    answers.push({ status, head, body: rest.slice(end + 4, end + 4 + size) });
    rest = rest.slice(end + 4 + size);
  }
}
