// Watches all links of a process with one timer: links with calls in flight ten times a second, the others every
// 15 s. It counts its own turns instead of time: an event loop that was blocked for seconds has had one turn, so
// it doesn't take its peers for silent.

import type { Clock } from "../base/ports.ts";
import { idleTurnMs, turnMs } from "./times.ts";

const idleTurns = 15;

/** Something that the wheel watches. */
export abstract class Watched {
  /** Written by the wheel only. */
  list: Watched[] | undefined = undefined;
  place = -1;
  /** Called each turn. Returns whether it wants the next turn, too. */
  abstract turn(): boolean;
  /** Called every 15 s while it doesn't want each turn. Returns whether it wants each turn from now on. */
  abstract idleTurn(): boolean;
}

export class Wheel {
  readonly #clock: Clock;
  readonly #active: Watched[] = [];
  readonly #idle: readonly Watched[][] = Array.from({ length: idleTurns }, () => []);
  #count = 0;
  /** Index of the idle list whose turn comes next. */
  #next = 0;
  #sinceIdle = 0;
  #stop: (() => void) | undefined;
  #ms = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** The time in milliseconds, by the clock of all watched links. */
  now(): number {
    return this.#clock.now();
  }

  add(watched: Watched): void {
    this.#count++;
    this.#rest(watched);
    this.#schedule();
  }

  /** Gives it each turn, until it doesn't want the next one. */
  wake(watched: Watched): void {
    if (watched.list === undefined || watched.list === this.#active) return;
    this.#move(watched, this.#active);
    if (this.#active.length === 1) this.#schedule();
  }

  remove(watched: Watched): void {
    if (watched.list === undefined) return;
    this.#move(watched, undefined);
    this.#count--;
    this.#schedule();
  }

  /** Puts it into the idle list whose turn comes in 15 s. */
  #rest(watched: Watched): void {
    this.#move(watched, this.#idle[(this.#next + idleTurns - 1) % idleTurns]);
  }

  #move(watched: Watched, to: Watched[] | undefined): void {
    const { list, place } = watched;
    const last = list?.pop();
    if (last !== undefined && last !== watched) {
      list![place] = last;
      last.place = place;
    }
    watched.list = to;
    watched.place = to === undefined ? -1 : to.push(watched) - 1;
  }

  #schedule(): void {
    const turn = this.#active.length > 0 ? turnMs : idleTurnMs;
    const ms = this.#count === 0 ? 0 : turn;
    if (ms === this.#ms) return;
    this.#stop?.();
    this.#ms = ms;
    this.#stop = ms === 0 ? undefined : this.#clock.after(ms, this.#turn);
  }

  readonly #turn = (): void => {
    this.#sinceIdle += this.#ms;
    this.#ms = 0;
    // From the end: a link that leaves is replaced by the last one, which has had this turn.
    for (let at = this.#active.length - 1; at >= 0; at--) {
      const watched = this.#active[at];
      if (watched !== undefined && !watched.turn() && watched.list === this.#active)
        this.#rest(watched);
    }
    if (this.#sinceIdle >= idleTurnMs) {
      this.#sinceIdle = 0;
      this.#idleTurn();
    }
    this.#schedule();
  };

  #idleTurn(): void {
    const due = this.#idle[this.#next]!;
    // Those that stay have their next turn one round later, so in the same list.
    this.#next = (this.#next + 1) % idleTurns;
    for (let at = due.length - 1; at >= 0; at--) {
      const watched = due[at];
      if (watched !== undefined && watched.idleTurn() && watched.list === due)
        this.#move(watched, this.#active);
    }
  }
}

const wheels = new WeakMap<Clock, Wheel>();

/** The wheel of everything that has this clock: one in a process. */
export function wheelOf(clock: Clock): Wheel {
  let wheel = wheels.get(clock);
  if (wheel === undefined) wheels.set(clock, (wheel = new Wheel(clock)));
  return wheel;
}
