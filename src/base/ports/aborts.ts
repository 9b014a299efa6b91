// A notice that a result isn't wanted any more.

/** A listener for an abort. With an object, no request needs a function of its own. */
export type AbortListener = (() => void) | { handleEvent(): void };

/** The part of AbortSignal that requests use. Every AbortSignal is one. */
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
