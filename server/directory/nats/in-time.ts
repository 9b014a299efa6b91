// A time limit for requests to a server of the directory.

import { nodeClock } from "../../host/clock.ts";

/** Rejects if the answer takes longer, and drops the answer. */
export async function inTime<Answer>(answer: Promise<Answer>, ms: number): Promise<Answer> {
  let cancel = (): void => {};
  const late = new Promise<never>((_, reject) => {
    cancel = nodeClock.after(ms, () => reject(new Error(`no answer in ${Math.round(ms)} ms`)));
  });
  try {
    return await Promise.race([answer, late]);
  } finally {
    cancel();
  }
}
