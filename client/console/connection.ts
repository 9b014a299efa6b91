// The way in and the stream: a token from the address is traded for a session at once, and the events of the service go into the model.

import type { ConsoleChange, ConsoleState } from "../../src/console/state.ts";
import type { Model } from "./model.ts";

const base = "/svc/console";
/** A service that was away is looked for so often, in ms. */
const lookTime = 2_000;

export interface Connection {
  /** Opens the stream; `no` when the service doesn't know this page (any more). */
  open(): void;
  close(): void;
}

/** Trades a token; `false`: it was used, is too old, or never was one. Rejects when nobody answers. */
export async function signIn(token: string): Promise<boolean> {
  const answer = await fetch(`${base}/session`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ token }),
  });
  return answer.status === 204;
}

export async function signOut(): Promise<void> {
  await fetch(`${base}/session`, { method: "DELETE" });
}

/** The token of a link, which leaves the address and the history. */
export function takeToken(): string | undefined {
  const token = tokenIn(location.hash);
  if (token !== undefined) history.replaceState(null, "", location.pathname);
  return token;
}

/** Of a whole link, or a token by itself. */
export function tokenIn(text: string): string | undefined {
  return /(?:^|#token=)([0-9a-f]{64})$/.exec(text.trim())?.[1];
}

export function connect(model: Model, refused: () => void): Connection {
  let source: EventSource | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;

  const lost = (): void => {
    model.connection = "lost";
    model.changed("connection");
  };

  /** The stream ended for good: the service says whether it knows us, as soon as it is there. */
  const look = async (): Promise<void> => {
    const status = await fetch(`${base}/state`, { method: "GET" }).then(
      (answer) => answer.status,
      () => 0,
    );
    if (status === 404) return refused();
    if (status === 200) return open();
    timer = setTimeout(() => void look(), lookTime);
  };

  const open = (): void => {
    close();
    source = new EventSource(`${base}/events`);
    source.addEventListener("snapshot", (event: MessageEvent<string>) =>
      model.take(JSON.parse(event.data) as ConsoleState),
    );
    source.addEventListener("change", (event: MessageEvent<string>) =>
      model.apply(JSON.parse(event.data) as ConsoleChange),
    );
    source.addEventListener("error", () => {
      lost();
      // The browser itself tries again after a broken connection, and not after an answer that is no stream.
      if (source?.readyState === EventSource.CLOSED) void look();
    });
  };

  const close = (): void => {
    source?.close();
    source = undefined;
    clearTimeout(timer);
  };

  return { open, close };
}
