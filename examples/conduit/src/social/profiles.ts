import { reader, signedIn } from "../accounts/signed-in.ts";
import type { Profile } from "../accounts/user.ts";
import { query } from "../database/query.ts";
import { NotThere } from "../errors.ts";

export async function getProfile(username: string): Promise<Profile> {
  const [profile] = await query<Profile>(
    `select username, bio, image,
       exists (select from follows where follower = $1 and followed = id) as following
     from users where username = $2`,
    [reader()?.id ?? 0, username],
  );
  if (profile === undefined) throw new NotThere("profile");
  return profile;
}

export async function follow(username: string): Promise<Profile> {
  await query(
    `insert into follows select $1, id from users where username = $2 and id <> $1
     on conflict do nothing`,
    [signedIn().id, username],
  );
  return await getProfile(username);
}

export async function unfollow(username: string): Promise<Profile> {
  await query(
    `delete from follows using users where follower = $1 and followed = id and username = $2`,
    [signedIn().id, username],
  );
  return await getProfile(username);
}
