// Times of development, in ms, with their reasons.

// deployment.ts, live-node.ts
/** How long a module that runs again waits for calls in its old code, and a failed node for its calls. */
export const callsEndMs = 1_000;

// development.ts
/** A file that was removed while the application was read may be gone for good, and with it the folder. */
export const goneMs = 50;
/** How long pages wait for nodes that load procedures which have moved to them. */
export const placeTimeoutMs = 2000;

/** A call waits so long for the types of its parameters after a change; then it runs unchecked. */
export const typesMs = 2_000;

// pages.ts
/** How long a move waits for a page that doesn't confirm it: a tab in the background may sleep. */
export const followTimeoutMs = 2000;

// settle.ts
/** An empty file is looked at again after this long. */
export const emptyLookMs = 10;
/** The watcher reports files that are saved together, such as an export and its import, 1 or 2 ms apart. */
export const savedTogetherMs = 5;
/** Moving a procedure changes two segment files, which an editor saves right after each other. */
export const segmentFilesWindowMs = 20;
/** Longer than an editor takes to save the second of two files. */
export const secondSaveMs = 150;
/** Long enough to open another file and type three words. */
export const orphanWindowMs = 10_000;

// watch.ts
/** The watcher drops changes within 50 ms of another, and may take longer than that to notice one. */
export const firstLookMs = 100;
/**
 * Each look at a path comes after twice the time of the one before, and the last after 100 s: by then the watcher has
 * reached everything that it doesn't ignore.
 */
export const maxLooks = 10;
