import type { z } from "zod";
import type { newUser, userChanges } from "../schemas.ts";

/** The fields that only the user may see. */
export interface User {
  readonly username: string;
  readonly email: string;
  readonly bio: string | null;
  readonly image: string | null;
}

/** The public fields of a user. */
export interface Profile {
  readonly username: string;
  readonly bio: string | null;
  readonly image: string | null;
  /** Whether the reader follows them. */
  readonly following: boolean;
}

export type NewUser = z.infer<typeof newUser>;
export type UserChanges = z.infer<typeof userChanges>;
