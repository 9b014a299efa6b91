// Times of links, in ms, with their reasons.

// challenges.ts
/** How long a challenge is valid: a dialer asks again at once. */
export const challengeMs = 10_000;

// proven-link.ts
/** How long a dialer waits for the acceptor's first frames. */
export const welcomeMs = 5_000;

// wheel.ts
/** The interval between turns. */
export const turnMs = 100;
export const idleTurnMs = 1_000;
