import { add } from "./add";

// The same function without a seam, and with the catch that a body has.
async function plain(a: number, b: number): Promise<number> {
  return a + b;
}

/**
 * Nanoseconds per call of both, in turns within one run, so that a busy machine slows both alike.
 */
export async function measure(
  rounds: number,
  calls: number,
): Promise<{ plain: number[]; seam: number[] }> {
  const times = { plain: [] as number[], seam: [] as number[] };
  for (let round = 0; round < rounds; round++) {
    times.plain.push(await time(plain, calls));
    times.seam.push(await time(add, calls));
  }
  return times;
}

async function time(
  call: (a: number, b: number) => Promise<number>,
  calls: number,
): Promise<number> {
  const start = process.hrtime.bigint();
  let sum = 0;
  for (let i = 0; i < calls; i++) sum += await call(i, 1);
  if (sum !== (calls * (calls + 1)) / 2) throw new Error("the calls did not add up");
  return Number(process.hrtime.bigint() - start) / calls;
}
