// Accounts as the procedures for the page and the HTTP API both need them.
import { type Check, check, text } from "../checks.ts";
import { query } from "../database/query.ts";
import { Taken, WrongCredentials } from "../errors.ts";
import { hash, matches } from "./passwords.ts";
import type { NewUser, User } from "./user.ts";

/** A user as a row. */
export interface Account extends User {
  readonly id: number;
  readonly password: string;
}

const isName: Check = (value) =>
  text(60)(value) ?? (/^\.+$|[/?#]/.test(String(value)) ? "is invalid" : undefined);
const isAddress: Check = (value) =>
  text(200)(value) ?? (/^\S+@\S+$/.test(String(value).trim()) ? undefined : "is invalid");
const isPassword: Check = (value) =>
  text(200)(value) ??
  (String(value).length < 8 ? "is too short (minimum is 8 characters)" : undefined);
export const credentials = { username: isName, email: isAddress, password: isPassword };

export async function register(user: NewUser): Promise<Account> {
  check(user, credentials);
  const names = [user.username.trim(), user.email.trim()] as const;
  await checkFree(...names);
  const [account] = await query<Account>(
    `insert into users (username, email, password) values ($1, $2, $3)
     on conflict do nothing returning *`,
    [...names, await hash(user.password)],
  );
  // Somebody took it in between.
  if (account === undefined) throw new Taken("username");
  return account;
}

export async function authenticate(email: string, password: string): Promise<Account> {
  check({ email, password }, { email: text(200), password: text(200) });
  const [account] = await query<Account>(`select * from users where email = $1`, [email.trim()]);
  if (!(await matches(password, account?.password)) || account === undefined)
    throw new WrongCredentials();
  return account;
}

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
