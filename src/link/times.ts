// Times of links, in ms, with their reasons.

// challenges.ts
/** How long a challenge is good for: a dialer asks again at once. */
export const challengeMs = 10_000;

// proven-link.ts
/** For an acceptor's first frames to come. */
export const welcomeMs = 5_000;

// wheel.ts
/** How long a turn takes. */
export const turnMs = 100;
export const idleTurnMs = 1_000;
