import { createHash, randomBytes } from "node:crypto";
import { query } from "../database/query.ts";

export const sessionSeconds = 30 * 24 * 60 * 60;

export interface SignedIn {
  readonly id: number;
  readonly username: string;
}

// The table has only hashes of the tokens: a stolen copy can't be used to sign in.
const keyOf = (token: string): string => createHash("sha256").update(token).digest("hex");

/** The token of a new session. */
export async function startSession(user: number): Promise<string> {
  const token = randomBytes(32).toString("base64url");
  const ends = new Date(Date.now() + sessionSeconds * 1000);
  await query(`delete from sessions where ends < now()`);
  await query(`insert into sessions values ($1, $2, $3)`, [keyOf(token), user, ends]);
  return token;
}

export async function endSession(token: string): Promise<void> {
  await query(`delete from sessions where key = $1`, [keyOf(token)]);
}

/** The user whose session it is. */
export async function userOf(token: string): Promise<SignedIn | null> {
  const [user] = await query<SignedIn>(
    `select id, username from sessions join users on id = "user" where key = $1 and ends > now()`,
    [keyOf(token)],
  );
  return user ?? null;
}
