// Rules that types don't express: the length of a text, and its contents. The page and the HTTP API show the messages.
import { z } from "zod";

const blank = "can't be blank";

/** A text that isn't blank. Postgres has no zero character. */
export const text = (longest: number): z.ZodString =>
  z
    .string(blank)
    .regex(/\S/, { error: blank, abort: true })
    .max(longest, `is too long (maximum is ${longest} characters)`)
    .regex(/^[^\0]*$/, "is invalid");

const name = text(60).regex(/^(?!\.+$)[^/?#]*$/, "is invalid");
const address = text(200).regex(/^\s*\S+@\S+\s*$/, "is invalid");
const password = text(200).min(8, "is too short (minimum is 8 characters)");
const picture = text(2_000).regex(/^(https?:\/\/|\/avatars\/)\S+$/, "is invalid");

export const newUser = z.object({ username: name, email: address, password });

export const login = z.object({ email: text(200), password: text(200) });

/** Null and the empty text say that there is nothing. */
export const userChanges = newUser.partial().extend({
  bio: z.union([z.literal(""), text(2_000)]).nullish(),
  image: z.union([z.literal(""), picture]).nullish(),
});

const fewTags = "must be a list of at most 20 short texts";

export const articleText = z.object({
  title: text(200),
  description: text(500),
  body: text(100_000),
  tagList: z.array(text(40), fewTags).max(20, fewTags).readonly().optional(),
});

export const articleChanges = articleText.partial();
