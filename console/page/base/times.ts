// Times of the page of the console, in ms, with their reasons.

// base/connection.ts
/** Delay between attempts to reach a service that doesn't answer. */
export const retryMs = 2_000;

// base/model.ts
/** A member's calls per second are averaged over this time. */
export const rateWindowMs = 5_000;
/** If the clocks' difference grows by more than this, one was set or the machine slept. */
export const clockToleranceMs = 1_000;

// calls/calls-view.ts
export const drawIntervalMs = 250;
export const rushIntervalMs = 1_000;

// map/flow-canvas.ts
export const travelMs = 420;

// map/map-view.ts
export const rateIntervalMs = 1_000;
