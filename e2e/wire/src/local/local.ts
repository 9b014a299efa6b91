// Procedures that run in the page.
import { Refused } from "../people/people.ts";

interface Reason {
  readonly text: string;
}

/** Throws at a line that a test looks for. */
export async function broken(reason: Reason): Promise<never> {
  const code: number = reason.text.length;
  throw new Refused(reason.text, code);
}

/** Names the build that runs here. */
export async function edition(): Promise<string> {
  return "first edition";
}
