// Limits and sizes of messages over sockets, with their reasons. Bytes, unless said otherwise.

import { mostHeadBytes as mostHeadBytesOfStreams } from "../../../src/base/page-link.ts";

// http.ts
/** Connections accepted past the limit, so that health checks get through and callers learn why their calls don't. */
export const spareConnections: number = 64;

// http2-sessions.ts
/** Streams that one connection may have open. Browsers ask for 100 files at once at most. */
export const mostStreams: number = 100;
/** Bytes of a request's body that may come unread. A round trip of 40 ms lets 50 Mbit/s through. */
export const streamWindowBytes: number = 262_144;
/** Bytes of all bodies of a connection that may be on their way: Node confirms them when they arrive, read or not. */
export const connectionWindowBytes: number = 1_048_576;
/** Frames that break the rules, and streams beyond the limit, before a connection ends. */
export const mostInvalidFrames: number = 100;
export const mostRejectedStreams: number = 100;
/** Of a request: method, scheme, authority, path. */
export const pseudoFields: number = 4;
/** Pieces of a large answer over HTTP/2. Its streams share a line, and only a whole piece shows that a caller reads. */
export const streamPieceBytes: number = 16_384;

// listening.ts
/** Connections that the kernel queues, within a limit of its own. With Node's 511 a burst of callers waits a second. */
export const backlog: number = 4_096;
/** The event loop accepts one connection in a turn. After this many turns without one, the backlog is empty. */
export const quietTurns: number = 3;

// body-reader.ts
/** The sender waits while more bytes than this wait for the reader. */
export const mostWaiting: number = 131_072;
/** The sender goes on when at most this many bytes wait. */
export const fewWaiting: number = 32_768;

// links/web-socket-channel.ts
/** A longer write becomes several messages. */
export const mostMessageBytes: number = 256 * 1024;
/** From this size on, writing bytes separately costs less than copying them behind their head. */
export const longBytes: number = 8 * 1024;
/** The longest head and the longest control frame of RFC 6455. */
export const mostHeadBytes: number = 14;
export const mostControlBytes: number = 125;

// page-links/page-link.ts
/** The longest message of a page: the head of a stream, and the words before it. */
export const mostPageMessageBytes: number = mostHeadBytesOfStreams + 64;
/** Text of streams that may wait in a page's socket: it keeps a fast network busy, and streams take short turns. */
export const mostWaitingBytes: number = 65_536;
/** A short text counts as this much in a turn of the event loop: generators make thousands of items without a pause. */
export const leastTurnBytes: number = 4_096;
/** With this much in its socket, a page's messages aren't read any more: each could ask for one more answer. */
export const mostReplyBytes: number = 262_144;

// page-links/page-stream.ts
/** A stream sends this much in its turn. */
export const pieceBytes: number = 16_384;
/** A stream's body is asked for this many chunks that may leave together. More would keep the loop from other streams. */
export const mostChunks: number = 32;

// mounted/web-handler.ts
/** Longer answers are handed over in parts. */
export const wholeBytes: number = 65_536;

// writing/pace.ts
/**
 * Two pieces, which keep the loop for about a millisecond. Fewer turns would hardly be faster: the cost of a turn
 * itself is a few per cent of this.
 */
export const turnBytes: number = 131_072;
/** Connections that go on in a turn after their requests for a link were refused twice. */
export const turnRefusals: number = 1;

// writing/slices.ts
/** A large answer is written in pieces of this size. */
export const sliceBytes: number = 65_536;

// writing/write-answer.ts
/** Receiving and dropping an unread body of this size is cheaper than a new connection. */
export const maxDroppedBytes: number = 65_536;

// writing/packed-answer.ts
/** Shorter answers aren't compressed: three packets more or less are no time. */
export const packedFromBytes: number = 4_096;
/** Compressing this much takes a tenth of a millisecond, less than handing it to another thread. */
export const atOnceBytes: number = 32_768;
/** Memory of a compressor whose answer is being read: measured with 200 of them. */
export const packerBytes: number = 284_000;
