// The session, and the event stream that keeps the model up to date.

import { addressOf } from "./address.ts";
import type { ConsoleChange, ConsoleState } from "../../console-state.ts";
import type { Model } from "./model.ts";
import { retryMs } from "./times.ts";

export interface EventStream {
  open(): void;
  close(): void;
}

/**
 * Exchanges a token for a session; `false` if the token was used, expired or is unknown. Rejects if
 * the service doesn't answer.
 */
export async function signIn(token: string): Promise<boolean> {
  const answer = await fetch(addressOf("/session"), {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ token }),
  });
  return answer.status === 204;
}

export async function signOut(): Promise<void> {
  await fetch(addressOf("/session"), { method: "DELETE" });
}

/** Takes the token of the link that opened this page out of the address and the history. */
export function takeToken(): string | undefined {
  const token = tokenIn(location.hash);
  if (token !== undefined) history.replaceState(null, "", location.pathname);
  return token;
}

/** `text` is a link or just a token. */
export function tokenIn(text: string): string | undefined {
  return /(?:^|#token=)([0-9a-f]{64})$/.exec(text.trim())?.[1];
}

/** Feeds `model`. Calls `refused` if the service doesn't know the session, or no longer does. */
export function connect(model: Model, refused: () => void): EventStream {
  let source: EventSource | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;

  const lost = (): void => {
    model.link = "lost";
    model.changed("link");
  };

  /**
   * After the stream has closed: finds out whether the session ended too, retrying until answered.
   */
  const check = async (): Promise<void> => {
    const status = await fetch(addressOf("/state"), { method: "GET" }).then(
      (answer) => answer.status,
      () => 0,
    );
    if (status === 404) return refused();
    if (status === 200) return open();
    timer = setTimeout(() => void check(), retryMs);
  };

  const open = (): void => {
    close();
    source = new EventSource(addressOf("/events"));
    source.addEventListener("snapshot", (event: MessageEvent<string>) =>
      model.take(JSON.parse(event.data) as ConsoleState),
    );
    source.addEventListener("change", (event: MessageEvent<string>) =>
      model.apply(JSON.parse(event.data) as ConsoleChange),
    );
    source.addEventListener("error", () => {
      lost();
      // The browser reconnects after a broken connection, but not after any other answer.
      if (source?.readyState === EventSource.CLOSED) void check();
    });
  };

  const close = (): void => {
    source?.close();
    source = undefined;
    clearTimeout(timer);
  };

  return { open, close };
}
