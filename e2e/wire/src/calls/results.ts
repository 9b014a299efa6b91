// Values that a procedure may return, by name.
import { Person } from "../people/people.ts";

/** Has readable and private state. */
export class Reel {
  readonly metres: number = 12;
  readonly #left: number = 3;
  get left(): number {
    return this.#left;
  }
}

const cycle: { a: unknown[] } = { a: [] };
cycle.a.push(cycle);

const bytes = (): Uint8Array<ArrayBuffer> => new Uint8Array([9, 0, 255, 1, 9]);

const results: Readonly<Record<string, () => unknown>> = {
  text: () => "täxt \u{1f9f5}",
  "empty text": () => "",
  "json text": () => '{"a":1}',
  number: () => -12.5,
  "minus zero": () => -0,
  NaN: () => Number.NaN,
  Infinity: () => Infinity,
  true: () => true,
  bigint: () => 2n ** 70n,
  undefined: () => undefined,
  null: () => null,
  array: () => [1, [2, "b", null, undefined]],
  "empty object": () => ({}),
  object: () => ({ a: { b: [true] }, c: undefined }),
  date: () => new Date(0),
  person: () => new Person("Ada", new Date(0)),
  private: () => new Person("Ada"),
  reel: () => new Reel(),
  bytes: () => bytes().subarray(1, 4),
  buffer: () => bytes().slice(1, 4).buffer,
  view: () => new DataView(bytes().buffer, 1, 3),
  blob: () => new Blob([bytes().subarray(1, 4)], { type: "image/x-thread" }),
  page: () => new Blob(["<b>hi</b>"], { type: "text/html;charset=utf-8" }),
  file: () => new File(["<b>hi</b>"], "ä '1'.html", { type: "text/html", lastModified: 5 }),
  "plain blob": () => new Blob(["thread"]),
  function: () => ({ people: [{}, {}, {}, { born: () => 1 }] }),
  symbol: () => Symbol("no"),
  cycle: () => cycle,
  promise: () => [Promise.resolve(1)],
};

export async function result(of: string): Promise<unknown> {
  return results[of]?.();
}
