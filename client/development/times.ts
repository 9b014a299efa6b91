// Times of pages in development, in ms, with their reasons.

// bodies.ts
/** How long calls in old code may take to end before its callbacks run. The same as on nodes. */
export const callsEndMs = 1_000;
/** How long a body that is back waits for Vite's update, which comes over another connection. */
export const updateMs = 2_000;

// page.ts
/** How long the page waits for anything that a move needs. The server waits as long. */
export const moveMs = 2_000;
