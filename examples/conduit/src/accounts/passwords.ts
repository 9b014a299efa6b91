import { randomBytes, scrypt, timingSafeEqual } from "node:crypto";
import { promisify } from "node:util";

const derive = promisify(scrypt) as (
  password: string,
  salt: Buffer,
  length: number,
) => Promise<Buffer>;

/** The stored form: salt and key, in hex. */
export async function hash(password: string): Promise<string> {
  const salt = randomBytes(16);
  const key = await derive(password, salt, 32);
  return `${salt.toString("hex")}:${key.toString("hex")}`;
}

/** Without a stored hash it takes as long, so that the time doesn't show which addresses have an account. */
export async function matches(password: string, stored = ":"): Promise<boolean> {
  const [salt = "", key = ""] = stored.split(":");
  const expected = Buffer.from(key, "hex");
  const found = await derive(password, Buffer.from(salt, "hex"), 32);
  return expected.length === found.length && timingSafeEqual(expected, found);
}
