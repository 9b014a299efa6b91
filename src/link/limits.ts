// Limits and sizes of links, with their reasons. Bytes, unless said otherwise.

// frames.ts
/** The largest frame, without its length field: a head, and a part of a body. */
export const mostFrameBytes: number = 256 * 1024;
/** The largest part of a body, and the largest body that goes with its head. */
export const chunkBytes: number = 64 * 1024;
/** An acceptor may send at most this many bytes before it has proven the key. */
export const mostHandshakeBytes: number = 4096;
/** Shorter parts are put together first: copying costs less than handling each piece. */
export const longChunkBytes: number = 8 * 1024;

// frame-writer.ts
/**
 * The size of a piece of memory. A writer has a piece while it has frames, and the next writer continues where it
 * stopped: an idle link holds no memory, and few writes need new memory.
 */
export const pieceBytes: number = 64 * 1024;
/** A piece with fewer bytes left than this isn't used again. */
export const usefulBytes: number = 4 * 1024;
export const mostPieces: number = 16;
/** From this size on, writing bytes separately costs less than copying them. */
export const longBytes: number = 8 * 1024;

// bodies.ts
/** The first window of a body. It grows if the receiver reads more than this in a round trip. */
export const windowBytes: number = 256 * 1024;
export const mostWindowBytes: number = 4 * 1024 * 1024;
/** A part takes at least this much of a window: many small parts cost more than their bytes. */
export const leastCost: number = 256;

// outbox.ts
/** Parts of bodies wait while one more would exceed 256 KiB in the channel. */
export const bodiesQueuedBytes: number = 256 * 1024 - chunkBytes;
/**
 * They also wait while one more would exceed this many unconfirmed bytes: most of those are in the buffers of
 * sockets, where no host shows them, and a call behind them would wait for them all. The limit grows with the
 * length of a round trip.
 */
export const firstUnconfirmed: number = 1024 * 1024;
export const mostUnconfirmed: number = 16 * 1024 * 1024;
/** The most that the windows of all received bodies may grow by together. */
export const mostGrown: number = 16 * 1024 * 1024;
/** Calls wait while there are more bytes in the channel. */
export const crowdedBytes: number = 512 * 1024;

// handshake.ts
/**
 * The most challenges that a dialer collects. It gets several if a name stands for several gateways and a
 * balancer picks one for each request: each recognises its own challenge among them.
 */
export const mostChallenges: number = 8;

// heads.ts
/** A frame holds a head and a body of 64 KiB, and a character may have three bytes. */
export const mostCharacters: number = 60_000;
/** Longer heads aren't cached. */
export const mostKept: number = 1_000;
/** Characters of another service's text that a message quotes. */
export const mostQuoted: number = 200;

// link-peer.ts
/**
 * Places on each link, beyond those for calls, for requests that hold the deployment together: a service can
 * report its health, and leave, even if its calls take up all other places.
 */
export const controlCalls: number = 8;

// link.ts
/** The limit of concurrent calls until the other end has announced its own. */
export const firstCalls: number = 16;
/**
 * The most calls of one read that begin together. Everything that a call creates before it first waits stays in
 * memory until all of them wait, and the size of its answer isn't known in advance.
 */
export const mostTogether: number = 16;
