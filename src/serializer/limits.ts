// Every limit of the service, once (decisions §3, §6 "past a limit"; reliability R4, R14).

/** How much a service takes from outside before it refuses. Bytes, counts and milliseconds. */
export interface Limits {
  /** Bytes of a request's body; more is a 413. */
  readonly body: number;
  /** Bytes of a request's head. */
  readonly header: number;
  /** Fields of a request's head; more is a 431, as is a head over `header`. */
  readonly headerCount: number;
  /** Milliseconds in which a call must be answered; later is a 504. */
  readonly time: number;
  /** Milliseconds from a request's first byte to the end of its head; later is a 408. */
  readonly headerTime: number;
  /** Milliseconds from a request's first byte to the end of its body; later is a 408. As long a caller may take no part of an answer. */
  readonly requestTime: number;
  /** Open sockets. */
  readonly connections: number;
  /** Levels of nesting, counted on the text: any recursive walk dies somewhere between 1,000 and 10,000. */
  readonly depth: number;
  /** Values in one message, counted on the text. */
  readonly values: number;
  /** Dates, maps, instances and so on that one message may make. */
  readonly objects: number;
  /** Digits of one bigint: reading it takes quadratic time. */
  readonly digits: number;
  /** Parameters in a query string. */
  readonly query: number;
}

/** What decoding looks at. */
export type ValueLimits = Pick<Limits, "depth" | "values" | "objects" | "digits">;

/** Milliseconds for a call, where nothing is said: all of the limits that a page has use for. */
export const defaultTime = 30_000;

/** What holds where a configuration says nothing. */
export const defaultLimits: Limits = {
  body: 1_048_576,
  header: 16_384,
  headerCount: 200,
  time: defaultTime,
  headerTime: 10_000,
  requestTime: 30_000,
  connections: 10_000,
  depth: 128,
  values: 100_000,
  objects: 10_000,
  digits: 10_000,
  query: 100,
};
