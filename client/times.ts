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

// page-link.ts
export const linkMs = {
  /** A service on the way to which something drops upgrades never answers. */
  open: 3_000,
  /** Something on the way that cuts a WebSocket this soon, twice, doesn't carry any. */
  cut: 1_000,
  /** Until a link that couldn't be opened is tried again. */
  retry: 60_000,
  /** How long a link stays open without streams: a page that shows another view soon needs it again. */
  idle: 30_000,
  /** A link with a stream shows every 15 s that it lives: three in a row are missing. */
  silent: 50_000,
} as const;

// stream.ts
/** As above, with some time for the link's own messages. */
export const streamIdleMs = 60_000;
/** A service that starts again is there after a second or some, and a page may sleep for hours. */
export const resumeMs = { first: 1_000, longest: 30_000 } as const;
