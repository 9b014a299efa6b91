// One session of `node:http2`, a stream a call. Functions of streams are shared and headers few: this is
// what HTTP/2 costs at least, before there is trust, a deadline, or an error.

import { connect, createServer } from "node:http2";

const piece = Buffer.alloc(65_536, "x");
const status = { ":status": 200, "content-type": "application/json" };
const withoutDate = { sendDate: false };

/** The options of a session, for windows of so many bytes. @param {number} initialWindowSize */
const optionsOf = (initialWindowSize) => ({
  settings: { initialWindowSize, maxConcurrentStreams: 4_000, enablePush: false },
  peerMaxConcurrentStreams: 4_000,
  maxSessionMemory: 1_000,
  // Of later releases of Node; others pass over it.
  strictFieldWhitespaceValidation: false,
});

/** The session's own window: of four streams. @param {number} windowBytes */
const widened = (windowBytes) => (session) => void session.setLocalWindowSize(4 * windowBytes);

// A stream collects into its own properties: no closure of a call is needed.
function collect(chunk) {
  this.collected = this.collected === undefined ? chunk : Buffer.concat([this.collected, chunk]);
}
function count(chunk) {
  this.bytes += chunk.length;
}

/** As many pieces as the stream takes, and the rest when it drains. */
function fill() {
  while (this.left > 0) {
    const part = this.left < piece.length ? piece.subarray(0, this.left) : piece;
    this.left -= part.length;
    if (this.left === 0) this.end(part);
    else if (!this.write(part)) return;
  }
}

function send(stream, bytes) {
  stream.left = bytes;
  stream.on("drain", fill);
  fill.call(stream);
}

/** @type {Map<string, object>} */
const requests = new Map();

/** The same fields for all calls of a procedure. */
function headersOf(target, method) {
  let headers = requests.get(target);
  if (headers === undefined)
    requests.set(
      target,
      (headers = {
        ":method": method,
        ":path": target,
        ":scheme": "http",
        ":authority": "node",
        ...(method === "POST" && { "content-type": "application/json" }),
      }),
    );
  return headers;
}

function answered(headers) {
  if (headers[":status"] !== 200) throw new Error(`answered ${headers[":status"]}`);
}
function finished() {
  this.done(this.collected);
}
const failed = (error) => {
  throw error;
};

function peerOf(session) {
  const open = (target, method, isOver, done) => {
    const stream = session.request(headersOf(target, method), isOver);
    stream.done = done;
    stream.on("response", answered).on("end", finished).on("error", failed);
    return stream;
  };
  return {
    call(target, body, done) {
      open(target, "POST", undefined, done).on("data", collect).end(body);
    },
    upload: (bytes) =>
      new Promise((resolve) => {
        const done = (body) => resolve(Number(body.toString()));
        const stream = open(`/upload/${bytes}`, "POST", undefined, done).on("data", collect);
        send(stream, bytes);
      }),
    download: (bytes) =>
      new Promise((resolve) => {
        const stream = open(`/download/${bytes}`, "GET", { endStream: true }, () =>
          resolve(stream.bytes),
        );
        stream.bytes = 0;
        stream.on("data", count);
      }),
  };
}

/** @param {number} windowBytes @returns {import("./end.mjs").Way} */
const way = (windowBytes) => ({
  accept: (answer) =>
    new Promise((resolve) => {
      function called() {
        answer(this.target, this.collected, (text) => {
          this.respond(status, withoutDate);
          this.end(text);
        });
      }
      function received() {
        this.respond(status, withoutDate);
        this.end(String(this.bytes));
      }
      const server = createServer(optionsOf(windowBytes));
      server.on("session", widened(windowBytes));
      server.on("stream", (stream, headers) => {
        stream.on("error", failed);
        const target = headers[":path"];
        if (target.startsWith("/download/")) {
          stream.respond(status, withoutDate);
          send(stream, Number(target.slice(10)));
        } else if (target.startsWith("/upload/")) {
          stream.bytes = 0;
          stream.on("data", count).on("end", received);
        } else {
          stream.target = target;
          stream.on("data", collect).on("end", called);
        }
      });
      server.listen(0, "127.0.0.1", () => resolve(server.address().port));
    }),
  dial: (port) =>
    new Promise((resolve) => {
      const session = connect(`http://127.0.0.1:${port}`, optionsOf(windowBytes));
      session.once("remoteSettings", () => {
        widened(windowBytes)(session);
        resolve(peerOf(session));
      });
    }),
});

export const http2 = way(1024 * 1024);
/** With the windows that Node and the RFC begin with. */
export const narrow = way(65_535);
export const wide = way(4 * 1024 * 1024);

/**
 * Small bodies travel in a field of the head, and streams end with it: no DATA, and next to nothing of
 * Node's streams. A field can't hold everything, so this is a bound and no proposal.
 * @type {import("./end.mjs").Way}
 */
export const heads = {
  accept: (answer) =>
    new Promise((resolve) => {
      const server = createServer(optionsOf(65_535));
      server.on("session", widened(65_535));
      server.on("stream", (stream, headers) => {
        stream.on("error", failed);
        answer(headers[":path"], headers.body, (text) =>
          stream.respond({ ":status": 200, body: text }, { sendDate: false, endStream: true }),
        );
      });
      server.listen(0, "127.0.0.1", () => resolve(server.address().port));
    }),
  dial: (port) =>
    new Promise((resolve) => {
      const session = connect(`http://127.0.0.1:${port}`, optionsOf(65_535));
      const isOver = { endStream: true };
      function head(headers) {
        this.done(headers.body);
      }
      session.once("remoteSettings", () => {
        widened(65_535)(session);
        resolve({
          call(target, body, done) {
            const stream = session.request(
              {
                ":method": "POST",
                ":path": target,
                ":scheme": "http",
                ":authority": "node",
                body: body.toString(),
              },
              isOver,
            );
            stream.done = done;
            stream.on("response", head).on("error", failed).resume();
          },
        });
      });
    }),
};
