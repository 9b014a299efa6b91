import { createContext, type ReactNode, useContext, useEffect, useState } from "react";
import { currentUser } from "../accounts/accounts.ts";
import type { User } from "../accounts/user.ts";

interface Session {
  /** Null: the visitor hasn't signed in. Undefined: not known yet. */
  readonly user: User | null | undefined;
  setUser(user: User | null): void;
}

const Context = createContext<Session>({ user: undefined, setUser() {} });

export const useSession = (): Session => useContext(Context);

export function SessionProvider({ children }: { children: ReactNode }) {
  const [user, setUser] = useState<User | null>();
  useEffect(() => {
    // Without an answer the page still shows the public articles.
    currentUser().then(setUser, () => setUser(null));
  }, []);
  return <Context value={{ user, setUser }}>{children}</Context>;
}
