// Windows for bodies: as many bytes as a link carries in a round trip, so that distance doesn't slow a body, and
// no more, as calls would wait behind them.

/** Measures round trips of a link, by pings. */
export class RoundTrips {
  readonly now: () => number;
  readonly #ping: () => void;
  #began: number | undefined;
  /** The shortest round trip in ms: in longer ones something waited. */
  least = 0;

  constructor(now: () => number, ping: () => void) {
    this.now = now;
    this.#ping = ping;
  }

  /** Begins a measurement, unless there is one. */
  measure(): void {
    if (this.#began !== undefined) return;
    this.#began = this.now();
    this.#ping();
  }

  /** The answer to the ping has come. */
  measured(): void {
    if (this.#began === undefined) return;
    const took = this.now() - this.#began;
    this.#began = undefined;
    if (this.least === 0 || took < this.least) this.least = took;
  }
}

/** A window that is read completely within this many round trips limits the sender. */
const fullWithin = 2;

/** A limit of bytes on their way, which doubles when it limits the sender. */
export class Window {
  readonly #trips: RoundTrips;
  readonly #first: number;
  readonly #most: number;
  #bytes: number;
  #moved = 0;
  #since: number;

  constructor(trips: RoundTrips, first: number, most: number) {
    this.#trips = trips;
    this.#bytes = this.#first = first;
    this.#most = most;
    this.#since = trips.now();
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** Growth since the first size. */
  get grown(): number {
    return this.#bytes - this.#first;
  }

  /** Counts bytes that have arrived or were read. Returns whether the window should double. */
  moved(bytes: number): boolean {
    this.#moved += bytes;
    if (this.#moved < this.#bytes || this.#bytes >= this.#most) return false;
    const { now, least } = this.#trips;
    const took = now() - this.#since;
    this.#since += took;
    this.#moved = 0;
    this.#trips.measure();
    return took < fullWithin * least;
  }

  double(): void {
    this.#bytes = Math.min(this.#most, 2 * this.#bytes);
  }

  reset(): void {
    this.#bytes = this.#first;
  }
}
