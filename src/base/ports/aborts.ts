// What tells that nobody waits for something any more.

/** Who listens for an abort. An object costs no function of its own for each request. */
export type AbortListener = (() => void) | { handleEvent(): void };

/** What requests use of an AbortSignal, which is one of these, too. */
export interface AbortNotice {
  readonly aborted: boolean;
  readonly reason: unknown;
  addEventListener(
    type: "abort",
    listener: AbortListener,
    options?: { readonly once?: boolean },
  ): void;
  removeEventListener(type: "abort", listener: AbortListener): void;
  throwIfAborted(): void;
}
