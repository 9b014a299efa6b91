/** Threads of one colour, side by side. */
export interface Stripe {
  readonly dye: string;
  readonly colour: string;
  readonly threads: number;
}

/**
 * A cloth with crossing stripes. It crosses the seam as an instance, with methods and private
 * fields.
 */
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

  /** The pattern repeats after this many threads: it runs to the last stripe and back, mirrored. */
  repeat(): number {
    return 2 * this.#stripes.reduce((sum, { threads }) => sum + threads, 0);
  }

  /** The colour of the thread on top. Each goes over two and under two, the diagonal of a twill. */
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
