// Times of Node's ports, in ms, with their reasons.

// event-loop.ts
export const resolutionMs = 20;
/** How often the event loop is checked; once busy, it counts as busy for a second. */
export const lookMs = 100;
export const memoryMs = 1_000;
/**
 * The loop is busy if it never pauses, and either computes for this long in a turn, or for this long for each call.
 * New connections come one a turn, so with long calls the turns are short, and many wait.
 */
export const longTurnMs = 200;
export const longCallMs = 3;
/** How often a service checks that its event loop runs. */
export const beatMs = 200;
/** A beat that is this late shows that requests have waited unread. */
export const lateBeatMs = 500;
/** The time to read requests that came meanwhile: one new connection in a turn. */
export const catchUpMs = 1_000;
/** A blocked event loop is logged from this length on. */
export const blockedMs = 1_000;

// held-memory.ts
/** A connection without progress for this long may be cut to free its memory. */
export const stalledMs = 2_000;
/** How often the progress of connections is checked. */
export const memoryCheckMs = 500;

// clock.ts
/** From this length on, times that end in the same tick share a timer, and may end that much later. */
export const longMs = 1_000;
export const tickMs = 50;
