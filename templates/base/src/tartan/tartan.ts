/** Threads of one colour, side by side. */
export interface Stripe {
  readonly dye: string;
  readonly colour: string;
  readonly threads: number;
}

/** A cloth whose stripes cross themselves. It crosses the seam as an instance: with its methods, and with what is private. */
export class Tartan {
  readonly #stripes: readonly Stripe[];
  readonly name: string;

  constructor(name: string, stripes: readonly Stripe[]) {
    this.name = name;
    this.#stripes = stripes;
  }

  get stripes(): readonly Stripe[] {
    return this.#stripes;
  }

  /** After so many threads the pattern begins again: it runs to the last stripe and, mirrored, back. */
  repeat(): number {
    return 2 * this.#stripes.reduce((sum, { threads }) => sum + threads, 0);
  }

  /** The colour of the thread that lies on top: each goes over two and under two, which makes the slanting lines of a twill. */
  colourAt(across: number, down: number): string {
    return this.#colourOf((across + down) % 4 < 2 ? across : down);
  }

  #colourOf(thread: number): string {
    const at = thread % this.repeat();
    let left = Math.min(at, this.repeat() - 1 - at);
    for (const { colour, threads } of this.#stripes) {
      if (left < threads) return colour;
      left -= threads;
    }
    return "black";
  }
}
