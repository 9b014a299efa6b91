// How much of bodies may be on its way: as much as a link carries in a round trip, so that distance doesn't
// slow them, and no more, as calls would wait behind it.

/** Round trips of a link. Pings measure them. */
export class RoundTrips {
  readonly now: () => number;
  readonly #ping: () => void;
  #began: number | undefined;
  /** The shortest one, in milliseconds: in the others something waited. */
  least = 0;

  constructor(now: () => number, ping: () => void) {
    this.now = now;
    this.#ping = ping;
  }

  /** Measures one, unless one is being measured. */
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

/** A window of which all moves within so many round trips is what holds the sender up. */
const fullWithin = 2;

/** Bytes that may be on their way. */
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

  /** How much larger it is than at first. */
  get grown(): number {
    return this.#bytes - this.#first;
  }

  /** So many bytes have arrived, or were read. Returns whether the window should be twice as large. */
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
