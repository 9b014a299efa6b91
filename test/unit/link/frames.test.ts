import { expect, it } from "vitest";

import { FrameWriter } from "../../../src/link/frame-writer.ts";
import { FrameReader, kinds, type OnFrame } from "../../../src/link/frames.ts";

function framesOf(payloads: readonly number[]): Uint8Array {
  const writer = new FrameWriter();
  payloads.forEach((size, index) => writer.add(kinds.chunk, 3, size).fill(index + 1));
  return writer.take().slice();
}

/** The frames that a reader makes of bytes that were cut at these places. */
function read(bytes: Uint8Array, cuts: readonly number[]): Parameters<OnFrame>[] {
  const seen: Parameters<OnFrame>[] = [];
  const reader = new FrameReader((...frame) => seen.push(frame));
  let from = 0;
  for (const to of [...cuts, bytes.length]) {
    reader.push(bytes.slice(from, to));
    from = to;
  }
  return seen;
}

it("a short payload that came in parts is put together, in memory of its own", () => {
  const seen = read(framesOf([1_000, 1_000, 1_000]), [500, 2_500]);
  expect(
    seen.map(([, , payload, isKept, cut]) => [payload.length, payload[0], isKept, cut]),
  ).toEqual([
    [1_000, 1, true, undefined],
    [1_000, 2, true, undefined],
    [1_000, 3, true, undefined],
  ]);
  for (const [, , { buffer }] of seen) expect(buffer.byteLength).toBeLessThan(2_001);
});

it("a payload may be kept where little else is in its memory", () => {
  const seen = read(framesOf([100, 100, 5_000, 100]), []);
  expect(seen.map(([, , payload, isKept]) => [payload.length, isKept])).toEqual([
    [100, false],
    [100, false],
    [5_000, true],
    [100, false],
  ]);
});

it("a long part of a body comes as it was cut, wherever that was, and nothing of it twice", () => {
  const size = 20_000;
  const bytes = framesOf([size, size]);
  for (const cut of [
    1,
    4,
    9,
    10,
    11,
    5_000,
    size + 9,
    size + 10,
    size + 11,
    size + 20,
    size + 21,
  ]) {
    for (const second of [cut + 1, cut + 7_000].filter((at) => at < bytes.length)) {
      const seen = read(bytes, [cut, second]);
      const sizes = [0, 0];
      for (const [kind, stream, payload, , how] of seen) {
        expect([kind, stream]).toEqual([kinds.chunk, 3]);
        if (how !== "rest") expect(sizes[payload[0]! - 1]).toBe(0);
        sizes[payload[0]! - 1]! += payload.length;
      }
      expect(sizes).toEqual([size, size]);
      expect(seen.filter(([, , , , how]) => how !== "rest")).toHaveLength(2);
    }
  }
});
