// Times of fetched and cached modules, in ms, with their reasons.

// content-store.ts
/** Content that no start has used for this long is removed. */
export const unusedContentMs: number = 30 * 24 * 3_600_000;
/** A temporary file of this age was left by a crash. */
export const abandonedWriteMs = 3_600_000;

// module-source.ts
/** How long a node tries to reach its repository before it gives up. */
export const giveUpMs = 60_000;
/** For one request: a repository that hangs counts as unavailable. */
export const fileRequestMs = 10_000;
export const retryMs: { readonly first: number; readonly longest: number } = {
  first: 250,
  longest: 8_000,
};
