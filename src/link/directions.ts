// Who may dial whom, and whose calls go which way: a service's own (`key`), those that its procedures make
// (`service`), and those that it passes on for callers outside. Anything else ends the link: whoever has
// broken into a repository, or a proxy, gets no further over the links that others have dialled.

import type { CallFrom } from "../base/ports.ts";

interface Direction {
  readonly fromDialer: readonly CallFrom[];
  readonly fromAcceptor: readonly CallFrom[];
}

const all: readonly CallFrom[] = ["key", "service", "outside"];
const none: readonly CallFrom[] = [];
/** From the other end a proxy hears of new lists. */
const calls: Direction = { fromDialer: all, fromAcceptor: ["key"] };
const modules: Direction = { fromDialer: ["key"], fromAcceptor: none };
const files: Direction = { fromDialer: ["key", "outside"], fromAcceptor: none };

/** By the role that is dialled, and the one that dials. */
const directions: Readonly<Record<string, Readonly<Record<string, Direction>>>> = {
  gateway: { node: { fromDialer: ["key", "service"], fromAcceptor: all }, proxy: calls },
  node: { proxy: calls },
  standalone: { proxy: calls, node: modules, gateway: modules },
  repository: { proxy: files, node: modules, gateway: modules },
  proxy: {},
};

/** The roles that may dial a service. */
export const dialersOf = (role: string): readonly string[] => Object.keys(directions[role] ?? {});

/** The calls that one end of a link takes from the other. */
export function takenFrom(
  own: { readonly role: string; readonly isDialer: boolean },
  other: string,
): readonly CallFrom[] {
  const [acceptor, dialer] = own.isDialer ? [other, own.role] : [own.role, other];
  const direction = directions[acceptor]?.[dialer];
  if (direction === undefined) return none;
  return own.isDialer ? direction.fromAcceptor : direction.fromDialer;
}
