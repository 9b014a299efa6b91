// Every limit of a service, and its default.

/** How much a service accepts from outside. Bytes, counts and milliseconds. */
export interface Limits {
  /** Bytes of a request's body; more is a 413. */
  readonly bodyBytes: number;
  /** Bytes of the body of a call with files, multipart/form-data; more is a 413. */
  readonly uploadBytes: number;
  /** Parts of such a body; more is a 400. */
  readonly uploadParts: number;
  /** Bytes of a request's head. */
  readonly headerBytes: number;
  /** Fields of a request's head; more is a 431, as is a head over `headerBytes`. */
  readonly headerCount: number;
  /** Milliseconds in which a call must be answered; later is a 504. */
  readonly callTimeoutMs: number;
  /** Milliseconds from a request's first byte to the end of its head; later is a 408. */
  readonly headerTimeoutMs: number;
  /**
   * Milliseconds from a request's first byte to the end of its body; later is a 408. A caller may
   * stop reading a response for as long.
   */
  readonly requestTimeoutMs: number;
  /** Milliseconds that a streamed body may stand still, in both directions, before it's cut. */
  readonly idleTimeoutMs: number;
  /** Milliseconds that a procedure's stream may stand still, at least 20,000: one without items shows after 15,000 that it lives. */
  readonly streamIdleMs: number;
  /** Milliseconds after which the guard of a stream is asked again [900,000]. If it is set, a stream without one is cut. */
  readonly streamAgeMs?: number | undefined;
  /** Bytes of one item of a stream, as it is sent. */
  readonly itemBytes: number;
  /** Streams that are open at once; more are a 503. */
  readonly maxStreams: number;
  /** Milliseconds for which a connection without a request stays open. */
  readonly keepAliveTimeoutMs: number;
  /** Calls that run at once, or are passed on; more are a 503. */
  readonly maxCalls: number;
  /** Open sockets. */
  readonly maxConnections: number;
  /** Streams at once over the link of one page; more are a 503. */
  readonly streamsPerLink: number;
  /** Links that pages at one public address may have. */
  readonly linksPerAddress: number;
  /**
   * Levels of nesting, counted before anything walks the parsed message: a recursive walk overflows the stack somewhere
   * between 1,000 and 10,000.
   */
  readonly maxDepth: number;
  /** Values in one message, counted before it's parsed. */
  readonly maxValues: number;
  /** The most dates, maps, instances and so on that one message may construct. */
  readonly maxObjects: number;
  /** Digits of one bigint: parsing it takes quadratic time. */
  readonly maxDigits: number;
  /** Parameters in a query string. */
  readonly maxQueryParameters: number;
  /** Bytes of `locals` as JSON. */
  readonly localsBytes: number;
}

/** The limits that decoding checks. */
export type ValueLimits = Pick<Limits, "maxDepth" | "maxValues" | "maxObjects" | "maxDigits">;

/** For messages from our own services. */
export const unlimited: ValueLimits = {
  maxDepth: Infinity,
  maxValues: Infinity,
  maxObjects: Infinity,
  maxDigits: Infinity,
};

/** The default time limit of a call, in ms. A constant of its own, as a page needs no other limit. */
export const defaultTime = 30_000;

/** Milliseconds that calls have which begin after their caller has left, as in a procedure's `finally`. */
export const cleanUpMs = 5_000;

/** The limits of a configuration that doesn't set any. */
export const defaultLimits: Limits = {
  bodyBytes: 1_048_576,
  uploadBytes: 33_554_432,
  uploadParts: 1_000,
  headerBytes: 16_384,
  headerCount: 200,
  callTimeoutMs: defaultTime,
  headerTimeoutMs: 10_000,
  requestTimeoutMs: 30_000,
  idleTimeoutMs: 30_000,
  streamIdleMs: 60_000,
  itemBytes: 1_048_576,
  maxStreams: 10_000,
  // Longer than most balancers keep idle connections, so that a service never closes one just as a
  // request arrives.
  keepAliveTimeoutMs: 65_000,
  maxCalls: 1_000,
  maxConnections: 10_000,
  streamsPerLink: 256,
  linksPerAddress: 256,
  maxDepth: 128,
  maxValues: 100_000,
  maxObjects: 10_000,
  maxDigits: 10_000,
  maxQueryParameters: 100,
  localsBytes: 8_192,
};
