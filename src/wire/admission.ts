// Limits the calls that a service runs at once. An overloaded service answers ever later, until its callers have
// given up. So it refuses calls beyond the limit, at once.
//
// Calls that compute and never wait are over before the next request is read: however many have come, only one is
// running. So while the event loop is late, calls line up, and requests are read between them: then it shows how
// many wait, and for how long. Each procedure has a line of its own, and they take turns: many calls of a slow
// procedure don't keep calls of the others waiting.

import type { Clock, EventLoop, Host, Log } from "../base/ports.ts";
import type { CallFigures } from "../base/ports/telemetry.ts";
import {
  intervalMs,
  lateMs,
  logMs,
  longestWaitMs,
  promptMs,
  shortWaitMs,
  turnMs,
} from "./times.ts";

/** Fewer than these are never refused. */
const fewest = 16;
const fewer = 0.8;
const more = 1.05;
/** Turns of the event loop in which requests are read before calls begin: a turn accepts one connection. */
const reads = 8;

/** The calls of one procedure that are admitted and have not begun. */
interface Line {
  readonly waiting: (() => void)[];
  /** Whether the last call that came had to line up. */
  linesUp: boolean;
  /** For how long a call keeps the loop as it begins; a moving average. */
  msOfCall: number;
  /** The number of calls that begin together. */
  together: number;
  /** Whether it waits for its turn, or has it. */
  isInTurn: boolean;
}

/** A call's place among those that run. A number, as each object costs a call memory. */
export type Place = number;

/** The time for which the waiting calls will keep the loop. */
function msOf({ waiting, msOfCall }: Line): number {
  return waiting.length * msOfCall;
}

export class Admission {
  readonly #clock: Clock;
  readonly #loop: EventLoop;
  readonly #log: Log;
  readonly #most: number;
  #limit: number;
  /** The start of each place's call; NaN for a free place. */
  readonly #since: number[] = [];
  readonly #free: Place[] = [];
  /** Whether a call came since the last adjustment. */
  #isUsed = false;
  #isWatching = false;
  /** Lines of all procedures whose calls have had to line up. */
  readonly #lines = new Map<string, Line>();
  /** Lines in which calls wait, in the order of their turns. */
  readonly #turns: Line[] = [];
  /** The number of calls that wait in all of them. */
  #waiting = 0;
  /** Refused calls since the last line in the log. */
  #refused = 0;
  #refusedInAll = 0;
  #saidAt = -Infinity;
  /** Whether the last of them was refused because of `most`. */
  #isFull = false;
  #isTurning = false;
  #reads = 0;
  /** How many began in the last turn, and when. */
  #begun = 0;
  #begunAt = 0;

  /** `most` calls run at once, fewer if the event loop is late. */
  constructor({ clock, loop, log }: Pick<Host, "clock" | "loop" | "log">, most: number) {
    this.#clock = clock;
    this.#loop = loop;
    this.#log = log;
    this.#most = most;
    this.#limit = most;
  }

  get figures(): Omit<CallFigures, "streams"> {
    const since = this.#since.filter((time) => !Number.isNaN(time)).toSorted((a, b) => a - b);
    const now = this.#clock.now();
    const age = (at: number): number => Math.round(now - (since[at] ?? now));
    return {
      running: since.length,
      limit: this.#limit,
      refused: this.#refusedInAll,
      medianMs: age(Math.floor(since.length / 2)),
      oldestMs: age(0),
    };
  }

  /** The place of a call of `name` that may begin, which must {@link leave} when it is over. */
  enter(name: string): Place | undefined {
    if (!this.#isWatching) this.#watch();
    this.#isUsed = true;
    if (this.#running < this.#limit && !this.#isTooMuch(name)) return this.add();
    this.#refused++;
    this.#refusedInAll++;
    this.#isFull = this.#running >= this.#most;
    return undefined;
  }

  /**
   * Resolves once a call of `name` that may begin gets its turn. Returns `undefined` if the loop isn't busy: then
   * it may begin at once.
   */
  turn(name: string): Promise<void> | undefined {
    let line = this.#lines.get(name);
    const linesUp = this.#loop.isBusy() || (line !== undefined && msOf(line) >= shortWaitMs);
    if (!linesUp && (line === undefined || line.waiting.length === 0)) return undefined;
    if (line === undefined) {
      line = { waiting: [], linesUp, msOfCall: 0, together: 1, isInTurn: false };
      this.#lines.set(name, line);
    }
    line.linesUp = linesUp;
    if (!line.isInTurn) this.#turns.push(line);
    line.isInTurn = true;
    if (!this.#isTurning) this.#loop.turn(this.#read);
    this.#isTurning = true;
    this.#waiting++;
    const { waiting } = line;
    return new Promise((begin) => waiting.push(begin));
  }

  /** A place for a call that had begun before, and left while it waited for its caller. */
  add(): Place {
    const place = this.#free.pop() ?? this.#since.length;
    this.#since[place] = this.#clock.now();
    return place;
  }

  leave(place: Place): void {
    this.#since[place] = Number.NaN;
    this.#free.push(place);
  }

  get #running(): number {
    return this.#since.length - this.#free.length;
  }

  readonly #read = (): void => {
    this.#reads++;
    if (this.#reads < reads) return this.#loop.turn(this.#read);
    this.#reads = 0;
    // Nothing is read between these two.
    this.#loop.turn(this.#begin);
    this.#loop.turn(this.#goOn);
  };

  readonly #begin = (): void => {
    const [line] = this.#turns;
    const calls = line!.waiting.splice(0, line!.linesUp ? line!.together : Infinity);
    this.#waiting -= calls.length;
    this.#begun = calls.length;
    this.#begunAt = this.#clock.now();
    for (const begin of calls) begin();
  };

  readonly #goOn = (): void => {
    const line = this.#turns.shift()!;
    const ms = this.#clock.now() - this.#begunAt;
    // Another process may have had the processor meanwhile: one measurement shows little.
    const most = 2 * line.msOfCall + 1;
    line.msOfCall += (Math.min(ms / this.#begun, most) - line.msOfCall) / 4;
    line.together = Math.max(1, Math.floor(this.#begun * (ms < turnMs ? 2 : 0.25)));
    line.isInTurn = line.waiting.length > 0;
    if (line.isInTurn) this.#turns.push(line);
    this.#isTurning = this.#turns.length > 0;
    if (this.#isTurning) this.#loop.turn(this.#read);
  };

  /** Whether one more call of `name` would wait too long. Others begin in its line's turns only as they take theirs. */
  #isTooMuch(name: string): boolean {
    if (this.#waiting < fewest) return false;
    const own = this.#lines.get(name);
    const turns = own === undefined ? 1 : 1 + Math.floor(own.waiting.length / own.together);
    let ms = 0;
    for (const line of this.#turns)
      ms += line === own ? msOf(line) : Math.min(msOf(line), turns * line.together * line.msOfCall);
    return ms >= longestWaitMs;
  }

  #watch(): void {
    this.#isWatching = true;
    this.#loop.watch();
    this.#clock.after(intervalMs, () => this.#adjust());
  }

  #adjust(): void {
    const delay = this.#loop.delay();
    // Don't limit to a fifth of the running calls: the event loop may be late for a moment with few of them, and
    // then bursts would be refused for long.
    if (delay > lateMs)
      this.#limit = Math.max(Math.min(fewest, this.#most), Math.floor(this.#limit * fewer));
    else if (delay < promptMs) this.#limit = Math.min(this.#most, Math.ceil(this.#limit * more));
    this.#sayRefused();
    const isNeeded =
      this.#refused > 0 || this.#isUsed || this.#running > 0 || this.#limit < this.#most;
    this.#isUsed = false;
    if (isNeeded) return void this.#clock.after(intervalMs, () => this.#adjust());
    this.#isWatching = false;
    this.#loop.unwatch();
  }

  #sayRefused(): void {
    const now = this.#clock.now();
    if (this.#refused === 0 || now - this.#saidAt < logMs) return;
    const calls = this.#refused === 1 ? "1 call" : `${this.#refused} calls`;
    const why = this.#isFull
      ? `${this.#most} were running, which is limits.maxCalls`
      : "the event loop was busy with the others";
    this.#log.warn(`refused ${calls} with 503: ${why}`);
    this.#refused = 0;
    this.#saidAt = now;
  }
}
