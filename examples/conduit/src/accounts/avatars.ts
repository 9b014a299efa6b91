import { createHash } from "node:crypto";
import { getContext } from "seamline";
import { query } from "../database/query.ts";
import { Invalid, NotThere } from "../errors.ts";
import { updateUser } from "./accounts.ts";
import { signedIn } from "./signed-in.ts";
import type { User } from "./user.ts";

const longest = 512 * 1024;
// How such files begin, in hex. What the sender says of the type counts for nothing.
const types: readonly [type: string, pattern: RegExp][] = [
  ["image/png", /^89504e470d0a1a0a/],
  ["image/jpeg", /^ffd8ff/],
  ["image/gif", /^47494638/],
  ["image/webp", /^52494646.{8}57454250/],
];

/** Stores the picture, and makes it the user's. */
export async function setAvatar(file: File): Promise<User> {
  signedIn();
  if (file.size > longest) throw new Invalid({ image: ["is too large (maximum is 512 KB)"] });
  const bytes = await file.bytes();
  const start = Buffer.from(bytes.subarray(0, 12)).toString("hex");
  const type = types.find(([, pattern]) => pattern.test(start))?.[0];
  if (type === undefined) throw new Invalid({ image: ["must be a PNG, JPEG, GIF or WebP file"] });
  const name = createHash("sha256").update(bytes).digest("hex").slice(0, 32);
  await query(`insert into avatars values ($1, $2, $3) on conflict do nothing`, [
    name,
    type,
    bytes,
  ]);
  return await updateUser({ image: `/avatars/${name}` });
}

/** A picture's name says what is in it, so caches may keep it. */
export async function avatar(): Promise<Response> {
  const name = getContext().params["name"] ?? "";
  const [picture] = await query<{ type: string; bytes: Uint8Array<ArrayBuffer> }>(
    `select type, bytes from avatars where name = $1`,
    [name],
  );
  if (picture === undefined) throw new NotThere("avatar");
  return new Response(picture.bytes, {
    headers: {
      "content-type": picture.type,
      "cache-control": "public, max-age=31536000, immutable",
      "x-content-type-options": "nosniff",
    },
  });
}
