// The cost of a call on a link, without sockets: a head as text, its frame, and both again. A link's two ends
// do each of them once for a call and once for its answer.
import { bench, describe } from "vitest";

import { FrameWriter } from "../../../src/link/frame-writer.ts";
import { FrameReader, kinds } from "../../../src/link/frames.ts";
import { answerHead, callHead, readAnswerHead, readCallHead } from "../../../src/link/heads.ts";
import { Link } from "../../../src/link/link.ts";
import { addHeadFrame, headIn } from "../../../src/link/payload.ts";

const call = {
  method: "POST",
  target: "/rpc/stock/add",
  headers: {
    "content-type": "application/json",
    "x-svc-timeout": "29990",
    traceparent: "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
  },
};
const answer = { status: 200, headers: { "content-type": "application/json" } };
const [callText, answerText] = [callHead(call), answerHead(answer)];
const body = '{"a":1,"b":2}';

/** @param {number} count */
function frames(count) {
  const writer = new FrameWriter();
  for (let at = 0; at < count; at++)
    addHeadFrame(writer, kinds.callService, 2 * at + 1, callText, body);
  return writer.take();
}

describe("heads", () => {
  bench("write a call's", () => void callHead(call));
  bench("read a call's", () => void readCallHead(callText));
  bench("write an answer's", () => void answerHead(answer));
  bench("read an answer's", () => void readAnswerHead(answerText));
});

describe("64 frames of calls", () => {
  const bytes = frames(64);
  const small = Array.from({ length: Math.ceil(bytes.length / 1_460) }, (_, at) =>
    bytes.subarray(at * 1_460, (at + 1) * 1_460),
  );
  let seen = 0;
  const reader = new FrameReader((_, __, payload) => void (seen += payload.length));
  bench("write", () => void frames(64));
  bench("cut", () => reader.push(bytes));
  bench("cut, when they come in parts of 1,460 bytes", () => {
    for (const part of small) reader.push(part);
  });
  bench("cut, and decode their heads", () => {
    new FrameReader((_, __, payload) => void headIn(payload).text).push(bytes);
  });
});

/** A link and its other end, whose channels deliver at once. */
function pair() {
  const clock = { now: () => 0, after: () => () => {} };
  /** @type {(() => void)[]} */
  const queue = [];
  /** @type {((bytes: Uint8Array) => void)[]} */
  const readers = [];
  /** @param {boolean} isDialer */
  const end = (isDialer) => {
    const channel = {
      queued: 0,
      send: (bytes) => queue.push(() => readers[isDialer ? 1 : 0](bytes)),
      close() {},
      open() {},
    };
    const link = new Link(channel, {
      isDialer,
      mostCalls: 1_000,
      clock,
      soon: (run) => queue.push(run),
      handle: async () => ({ ...answer, body: "3" }),
      onFault(fault) {
        throw fault;
      },
      onDraining() {},
      onClose() {},
    });
    const reader = new FrameReader(link.onFrame);
    readers.push((bytes) => reader.push(bytes));
    return link;
  };
  const dialer = end(true);
  end(false);
  const run = () => {
    for (const next of queue.splice(0)) next();
  };
  return { dialer, run };
}

describe("calls over a link, both ends, without sockets", () => {
  for (const callers of [1, 64]) {
    const { dialer, run } = pair();
    run();
    bench(`${callers} at a time`, async () => {
      const answers = Promise.all(
        Array.from({ length: callers }, () =>
          dialer.send({ ...call, from: "service", body, signal: undefined }),
        ),
      );
      // A call takes less than so many turns, there and back.
      for (let turns = 0; turns < 12; turns++) {
        run();
        await Promise.resolve();
      }
      await answers;
    });
  }
});
