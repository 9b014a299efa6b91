import { signedIn } from "./signed-in.ts";

/** The guard of what only users may do. Who they are, the middleware has found out. */
export async function users(): Promise<void> {
  signedIn();
}
