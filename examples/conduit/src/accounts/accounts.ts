import { checked, getContext } from "seamline";
import { query } from "../database/query.ts";
import { NotSignedIn } from "../errors.ts";
import { userChanges } from "../schemas.ts";
import { hash } from "./passwords.ts";
import { endSession, startSession, sessionSeconds } from "./sessions.ts";
import { reader, signedIn } from "./signed-in.ts";
import type { NewUser, User } from "./user.ts";
import { type Account, authenticate, checkFree, register, userIn } from "./users.ts";

export async function signUp(user: NewUser): Promise<User> {
  return await begin(await register(user));
}

export async function signIn(email: string, password: string): Promise<User> {
  return await begin(await authenticate({ email, password }));
}

/** The browser keeps the token where scripts can't read it. */
async function begin(account: Account): Promise<User> {
  const token = await startSession(account.id);
  getContext().response.cookies.set("session", token, { maxAge: sessionSeconds });
  return userIn(account);
}

export async function signOut(): Promise<void> {
  const { cookies, response } = getContext();
  const token = cookies.get("session");
  if (token !== undefined) await endSession(token);
  response.cookies.delete("session");
}

export async function currentUser(): Promise<User | null> {
  const user = reader();
  if (user === null) return null;
  const [account] = await query<Account>(`select * from users where id = $1`, [user.id]);
  return account === undefined ? null : userIn(account);
}

export const updateUser = checked(userChanges, async (changes): Promise<User> => {
  const { id } = signedIn();
  const [before] = await query<Account>(`select * from users where id = $1`, [id]);
  if (before === undefined) throw new NotSignedIn();
  const { username, email, bio, image } = { ...before, ...changes };
  const names = [username.trim(), email.trim()] as const;
  await checkFree(...names, id);
  const password = changes.password === undefined ? before.password : await hash(changes.password);
  const [account] = await query<Account>(
    `update users set username = $2, email = $3, password = $4, bio = $5, image = $6
     where id = $1 returning *`,
    [id, ...names, password, bio || null, image || null],
  );
  return userIn(account!);
});
