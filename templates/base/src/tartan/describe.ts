import type { Tartan } from "./tartan.ts";

/** Describes a tartan in a sentence. */
export async function describe(tartan: Tartan): Promise<string> {
  const [most, ...others] = tartan.stripes
    .toSorted((a, b) => b.threads - a.threads)
    .map(({ dye }) => dye);
  return `Mostly ${most}, with ${others.slice(0, -1).join(", ")} and ${others.at(-1)}: ${tartan.repeat()} threads, then it begins again.`;
}
