import { Forbidden, getContext } from "seamline";

/** The guard of `members`. */
export async function isMember(): Promise<void> {
  if (getContext().headers.get("x-member") !== "yes") throw new Forbidden("Members only");
}
