// Times of the test kit, in ms, with their reasons.

// cluster.ts
/** How far the clock advances at a time while something is awaited. */
export const stepMs: number = 100;

// test-clock.ts
/** A module that loads for longer, in real time, waits for the clock itself: a busy machine takes seconds for some. */
export const maxWorkMs: number = 10_000;
