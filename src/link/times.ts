// Times of links, in ms, with their reasons.

// challenges.ts
/** How long a challenge is valid: a dialer asks again at once. */
export const challengeMs = 10_000;

// proven-link.ts
/** How long a dialer waits for the acceptor's first frames. */
export const welcomeMs = 5_000;

// pulse.ts
/** How often a link with calls in flight is looked after. */
export const turnMs = 100;
/** How often one without is. The end that was dialled has the other one's ping by its own turn, so it sends none. */
export const idleMs = { dialer: 15_000, acceptor: 16_000 };
