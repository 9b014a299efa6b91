// Times of pages, in ms, with their reasons.

// manifest-store.ts
/** Some browsers never answer an `open`; slower storage than this would cost more than it saves. */
export const storageMs = 1_000;

// outdated.ts
/**
 * The shortest interval at which a page asks for a newer build: it may have a mistake of its own, and call a
 * procedure that never existed.
 */
export const checkIntervalMs = 10_000;

// stream.ts
/** A service shows every 15 s that a stream lives: three in a row are missing. */
export const streamIdleMs = 60_000;
