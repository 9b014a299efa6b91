// Accounts as the procedures for the page and the HTTP API both need them.
import { checked } from "seamline";
import { query } from "../database/query.ts";
import { Taken, WrongCredentials } from "../errors.ts";
import { login, newUser } from "../schemas.ts";
import { hash, matches } from "./passwords.ts";
import type { User } from "./user.ts";

/** A user as a row. */
export interface Account extends User {
  readonly id: number;
  readonly password: string;
}

// Checked wherever they are called from: the HTTP API passes on what it was sent.
export const register = checked(newUser, async (user): Promise<Account> => {
  const names = [user.username.trim(), user.email.trim()] as const;
  await checkFree(...names);
  const [account] = await query<Account>(
    `insert into users (username, email, password) values ($1, $2, $3)
     on conflict do nothing returning *`,
    [...names, await hash(user.password)],
  );
  // Another user took it in between.
  if (account === undefined) throw new Taken("username");
  return account;
});

export const authenticate = checked(login, async ({ email, password }): Promise<Account> => {
  const [account] = await query<Account>(`select * from users where email = $1`, [email.trim()]);
  if (!(await matches(password, account?.password)) || account === undefined)
    throw new WrongCredentials();
  return account;
});

export async function checkFree(username: string, email: string, id = 0): Promise<void> {
  const [taken] = await query<Account>(
    `select * from users where (username = $1 or email = $2) and id <> $3`,
    [username, email, id],
  );
  if (taken !== undefined) throw new Taken(taken.username === username ? "username" : "email");
}

export function userIn({ username, email, bio, image }: Account): User {
  return { username, email, bio, image };
}
