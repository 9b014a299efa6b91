// A limit for what a server is asked.

import { nodeClock } from "../../host/clock.ts";

/** Rejects if the answer takes longer. It is dropped then. */
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
