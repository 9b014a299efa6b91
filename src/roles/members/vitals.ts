// What a gateway notes of a member's life.

import type { Abort } from "../../base/aborts.ts";

/**
 * - `alive`: nothing speaks against it;
 * - `suspected`: it has been silent, and gets no new calls while other members can take them;
 * - `out` of rotation, until it answers what was sent to it since.
 */
export type LifeSign = "alive" | "suspected" | "out";

/** What a gateway knows of a member's life. */
export interface Vitals {
  sign: LifeSign;
  /** Calls that were sent to it and have neither answer nor end. */
  inFlight: number;
  /** Since when it owes an answer, if it does. */
  silentSince: number | undefined;
  /** When something last came from it. */
  heard: number;
  /** Questions in a row that it didn't answer in time, or answers that it fails. */
  failures: number;
  /** Connections in a row that it didn't accept in time, with no answer to a call in between. */
  unaccepted: number;
  /** How often it was taken out of rotation in short succession. */
  ejections: number;
  ejected: number;
  /** Ends the question that is open. */
  probe: Abort | undefined;
  /** Cancels the next question to a member that is out. */
  cancelAsk: (() => void) | undefined;
  /** Calls that are ended when it is out of rotation and another member can take them. */
  readonly endings: Ending[];
}

/** Ends a call. It knows its place, so that it can leave the list without a search. */
export interface Ending {
  readonly fqn: string;
  at: number;
  end(): void;
}

export function addEnding({ endings }: Vitals, ending: Ending): void {
  ending.at = endings.push(ending) - 1;
}

export function removeEnding({ endings }: Vitals, ending: Ending): void {
  if (endings[ending.at] !== ending) return;
  const last = endings.pop();
  if (last === undefined || last === ending) return;
  last.at = ending.at;
  endings[last.at] = last;
}

export function newVitals(): Vitals {
  return {
    sign: "alive",
    inFlight: 0,
    silentSince: undefined,
    heard: -Infinity,
    failures: 0,
    unaccepted: 0,
    ejections: 0,
    ejected: -Infinity,
    probe: undefined,
    cancelAsk: undefined,
    endings: [],
  };
}
