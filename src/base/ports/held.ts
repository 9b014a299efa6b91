// Accounting of held memory.

/** A holder of memory: a connection, a request to another service, or a body on a link. */
export interface HeldFor {
  /** Changes whenever a byte moves in either direction. */
  progress(): number;
  /** Whether part of an answer waits to be read. */
  isUntaken(): boolean;
  /** Ends it, since its memory won't be used. */
  cut(): void;
}

/** Counts the memory of one holder. */
export interface Holding {
  take(bytes: number): void;
  /** Takes this much of an answer if it may wait for its caller, and returns whether it does. */
  takeAnswer(bytes: number): boolean;
  give(bytes: number): void;
}
