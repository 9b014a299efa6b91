// Ids that authors give to the items of a stream, from `withId` until the item is sent.

interface Noted {
  readonly id: string;
  readonly item: unknown;
}

/** By the incoming call that the stream answers. */
const noted = new WeakMap<object, Noted>();

/** A longer id could fill the head of a request that resumes the stream. */
const longestId = 256;

/** Throws TypeError for an id that can't be sent back in a header. */
export function checkId(id: unknown): string {
  if (typeof id !== "string" || id === "" || id.length > longestId)
    throw new TypeError(`withId: an id is a string of 1 to ${longestId} characters`);
  // oxlint-disable-next-line eslint/no-control-regex -- what the id may not have
  if (/[^\x20-\x7e]|^\s|\s$/.test(id))
    throw new TypeError("withId: an id has printable characters of ASCII only");
  if (id === "end" || id === "0")
    throw new TypeError(
      `withId: '${id}' marks the ${id === "0" ? "beginning" : "end"} of a stream`,
    );
  return id;
}

/** Notes the id of `item`, which the stream that answers `call` sends next. */
export function noteId(call: object, id: string, item: unknown): void {
  noted.set(call, { id, item });
}

/** The id of an item, if it was noted for this one. */
export function takeId(call: object, item: unknown): string | undefined {
  const found = noted.get(call);
  if (found === undefined) return undefined;
  noted.delete(call);
  return Object.is(found.item, item) ? found.id : undefined;
}
