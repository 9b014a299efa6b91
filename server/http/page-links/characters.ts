// Cuts UTF-8 between characters.

/** The end of the last whole character within the first `most` bytes, which begin with one. */
export function endOfCharacters(bytes: Uint8Array, most: number): number {
  if (most >= bytes.length) return bytes.length;
  let end = most;
  while (end > 0 && isContinuation(bytes[end]!)) end--;
  return end;
}

/** Whole characters, and the beginning of one whose rest has yet to come. */
export function splitTail(bytes: Uint8Array): readonly [whole: Uint8Array, tail: Uint8Array] {
  const { length } = bytes;
  for (let back = 1; back <= Math.min(3, length); back++) {
    const byte = bytes[length - back]!;
    if (isContinuation(byte)) continue;
    if (sizeOf(byte) <= back) break;
    // A copy: it mustn't keep the whole chunk.
    return [bytes.subarray(0, length - back), bytes.slice(length - back)];
  }
  return [bytes, new Uint8Array()];
}

function isContinuation(byte: number): boolean {
  return (byte & 0xc0) === 0x80;
}

/** The size of a character, by its first byte. */
function sizeOf(first: number): number {
  if (first >= 0xf0) return 4;
  if (first >= 0xe0) return 3;
  return first >= 0xc0 ? 2 : 1;
}
