// Times of files, in ms, with their reasons.

// build-lock.ts
/** A build takes seconds; reading a small file, microseconds. */
export const pollMs: number = 100;

// held-file.ts
/** Requests share a check of whether a file has changed for this long: a build may have thousands of files. */
export const sharedMs: number = 250;
