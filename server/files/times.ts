// Times of files, in ms, with their reasons.

// build-lock.ts
/** A build takes seconds; reading a small file, microseconds. */
export const pollMs: number = 100;

// held-file.ts
/** How long requests share the look at whether a file is what it was: a build may have thousands of files. */
export const sharedMs: number = 250;
