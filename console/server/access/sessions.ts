// Console sessions. A token that works once is traded for a session; both live in memory.

import type { Clock } from "../../../src/base/ports.ts";
import { sessionMs, tokenMs } from "../base/times.ts";

// Only a holder of the trust key can create more. Beyond this, the oldest ones end.
const maxTokens = 16;
const maxSessions = 64;

export interface Session {
  readonly secret: string;
  /** On the service's clock. */
  readonly until: number;
}

export interface Sessions {
  /** A new token, for a link. */
  token(): string;
  /** Trades a token for a session, once; `undefined` if the token is unknown, used or expired. */
  trade(token: string): Session | undefined;
  find(secret: string): Session | undefined;
  end(session: Session): void;
}

export function createSessions(
  clock: Clock,
  equalSecrets: (a: string, b: string) => boolean,
): Sessions {
  const tokens: Session[] = [];
  const sessions: Session[] = [];

  const add = (list: Session[], max: number, ms: number): Session => {
    const entry = { secret: randomSecret(), until: clock.now() + ms };
    list.push(entry);
    if (list.length > max) list.shift();
    return entry;
  };

  /** Compares with all entries in constant time, so timing reveals nothing about any secret. */
  const find = (list: readonly Session[], secret: string): Session | undefined => {
    let found: Session | undefined;
    for (const entry of list) if (equalSecrets(entry.secret, secret)) found = entry;
    return found !== undefined && found.until > clock.now() ? found : undefined;
  };

  const remove = (list: Session[], entry: Session): void => {
    if (list.includes(entry)) list.splice(list.indexOf(entry), 1);
  };

  return {
    token: () => add(tokens, maxTokens, tokenMs).secret,
    trade(token) {
      const found = find(tokens, token);
      if (found === undefined) return undefined;
      remove(tokens, found);
      return add(sessions, maxSessions, sessionMs);
    },
    find: (secret) => find(sessions, secret),
    end: (session) => remove(sessions, session),
  };
}

/** 256 bits, in characters that never need escaping. */
function randomSecret(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(32));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
