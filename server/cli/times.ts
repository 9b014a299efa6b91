// Times of the command line, in ms, with their reasons.

// inspect.ts
/** How long `inspect --running` waits for a gateway. */
export const answerMs: number = 5_000;

// progress.ts
/** Shorter waits need no explanation. */
export const noticeableMs: number = 500;
