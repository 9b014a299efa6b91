// Values that a procedure may throw.
import { NotFound, Teapot } from "seamline";

/** Extends a framework error, with a field of its own. */
export class Unravelled extends NotFound {
  override readonly name = "Unravelled";
  readonly #loom: string;
  constructor(loom: string) {
    super(`Loom ${loom} has unravelled`);
    this.#loom = loom;
  }
  get loom(): string {
    return this.#loom;
  }
}

const kinds: Readonly<Record<string, () => unknown>> = {
  text: () => "just text",
  number: () => 7,
  nothing: () => undefined,
  null: () => null,
  Error: () => new Error("plain"),
  TypeError: () => new TypeError("not that"),
  Teapot: () => new Teapot(),
  NotFound: () => new NotFound(),
  Unravelled: () => new Unravelled("B"),
  lines: () => new NotFound("one\ntwo"),
};

export async function thrown(what: string): Promise<never> {
  throw kinds[what]?.();
}
