// Who may look: a token of one use becomes a session. Both are known to this process only, and end with it.

import type { Clock } from "../ports.ts";

/** A token may be traded for so long, in ms. */
export const tokenTime = 600_000;
/** And a session lasts so long. */
export const sessionTime = 28_800_000;

// Who asks for more has the trust key, and makes the oldest of his own invalid.
const mostTokens = 16;
const mostSessions = 64;

export interface Session {
  readonly secret: string;
  /** By the service's clock. */
  readonly until: number;
}

export interface Sessions {
  /** A new token, for a link. */
  token(): string;
  /** The session for a token; that token is no more. `undefined`: it never was one, was traded, or is too old. */
  trade(token: string): Session | undefined;
  find(secret: string): Session | undefined;
  end(session: Session): void;
}

export function createSessions(
  clock: Clock,
  equalSecrets: (one: string, other: string) => boolean,
): Sessions {
  const tokens: Session[] = [];
  const sessions: Session[] = [];

  const take = (list: Session[], most: number, time: number): Session => {
    const one = { secret: randomSecret(), until: clock.now() + time };
    list.push(one);
    if (list.length > most) list.shift();
    return one;
  };

  /** Looks at all of them, in constant time each: neither how much of a secret is right can be told, nor which one. */
  const find = (list: readonly Session[], secret: string): Session | undefined => {
    let found: Session | undefined;
    for (const one of list) if (equalSecrets(one.secret, secret)) found = one;
    return found !== undefined && found.until > clock.now() ? found : undefined;
  };

  return {
    token: () => take(tokens, mostTokens, tokenTime).secret,
    trade(token) {
      const found = find(tokens, token);
      if (found === undefined) return undefined;
      tokens.splice(tokens.indexOf(found), 1);
      return take(sessions, mostSessions, sessionTime);
    },
    find: (secret) => find(sessions, secret),
    end: (session) =>
      void (sessions.includes(session) && sessions.splice(sessions.indexOf(session), 1)),
  };
}

/** 256 bits, in characters that need no escape anywhere. */
function randomSecret(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(32));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
