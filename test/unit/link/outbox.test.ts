import { expect, it } from "vitest";

import { TestClock } from "../../../server/testing/test-clock.ts";
import type { FrameWriter } from "../../../src/link/frame-writer.ts";
import { kinds } from "../../../src/link/frames.ts";
import { Outbox, type PartSource } from "../../../src/link/outbox.ts";

it("a body that nobody wants any more holds up no other: the parts of those behind it leave in the same turn", () => {
  const written: number[] = [];
  const turns: (() => void)[] = [];
  const channel = {
    queued: 0,
    send: (bytes: Uint8Array) => void written.push(bytes.length),
    close() {},
    open() {},
  };
  const outbox = new Outbox(channel, {
    soon: (run) => void turns.push(run),
    name: "http://other",
    clock: new TestClock(),
  });
  outbox.began(true);
  outbox.began(true);
  // Its call was answered before its turn came.
  const stopped: PartSource = { addPart: () => false };
  let parts = 3;
  const body: PartSource = {
    addPart(writer: FrameWriter) {
      writer.add(kinds.chunk, 3, 1_000);
      return --parts > 0;
    },
  };
  for (const source of [stopped, stopped, body]) outbox.ready(source);
  for (const turn of turns.splice(0)) turn();
  expect([parts, written.length, turns]).toEqual([0, 3, []]);
});
