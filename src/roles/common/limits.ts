// Limits of roles and sizes that they choose, with their reasons. Bytes, unless said otherwise.

// directory/entry.ts
/** The longest entry of a directory. */
export const maxEntryBytes: number = 16 * 1024;

// directory/replica.ts
/** More than deployments have. Processes that have ended count, as their numbers are remembered. */
export const maxRecords: number = 10_000;
/** Invalid values that are logged. */
export const maxWarnings: number = 20;

// directory/shared-lists.ts
/** By default servers take values of up to 1 MiB, headers included. */
export const partBytes: number = 512 * 1024;

// members/announcement.ts
/** Longer joins, in characters, name the digest: to ask whether it is known costs more than to send less. */
export const longestJoin: number = 16 * 1024;

// members/lists.ts
/** A list of 100,000 procedures takes 5 to 10 MB. */
export const maxListBytes: number = 64 * 1024 * 1024;
/** Lists that no member has yet, on their way or complete. */
export const maxUploads: number = 16;
/** More lists than this aren't coming at once: their members are all told to send. */
export const maxExpected: number = 100;

// members/member-endpoints.ts
/** For the names of some hundred thousand procedures, from a member that has shown the key. */
export const maxJoinBytes: number = 16 * 1024 * 1024;

// members/read-join.ts
/** Longest URL of a member, in characters: no real one is longer. */
export const maxUrlLength: number = 2_048;

// members/route-directory.ts
/** Remembered routes that no member has any more: requests for them get 503. */
export const maxLeft: number = 1_000;

// relay/removed-names.ts
/** Answers are asked for again once another node has joined, or when there are this many. */
export const mostAnswers: number = 1_000;

// resend/resend-budget.ts
/** Services that a call is sent to, at most. */
export const mostTried: number = 3;
/** Calls that are sent again by a service that makes few. */
export const smallestBudget: number = 20;
/** Calls of so many seconds count. */
export const budgetSeconds: number = 10;

// runs/procedure-run.ts
/** An answer up to this size is little, beside what else a call takes. */
export const littleBytes: number = 65_536;

// runs/web-messages.ts
/** Larger chunks are sent in pieces, so that a slow reader is seen to be reading. */
export const pieceBytes: number = 65_536;

// upstreams/known-lists.ts
/** The body is `{"digest":"…"}`. */
export const maxDigestBytes: number = 1_024;
