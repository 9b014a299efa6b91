import { BadRequest } from "seamline";
import type { MaxLength } from "seamline/types";
import { type Stripe, Tartan } from "./tartan.ts";

const dyes = [
  ["pine", "#1f4d3a"],
  ["midnight", "#1d2a4d"],
  ["madder", "#a63a2b"],
  ["saffron", "#e0a526"],
  ["chalk", "#ece5d6"],
  ["heather", "#7a5c86"],
  ["lochan", "#4f8a9a"],
  ["peat", "#3b2b24"],
] as const;

/** Weaves the tartan of a name, always the same. */
export async function weave(name: string & MaxLength<60>): Promise<Tartan> {
  const wearer = name.trim();
  if (wearer === "") throw new BadRequest("A tartan needs a name");
  const next = numbersFrom(wearer.toLowerCase());
  const left = [...dyes];
  const stripes: Stripe[] = [];
  for (const width of [16, 4, 10, 2, 8]) {
    const [[dye, colour] = dyes[0]] = left.splice(next() % left.length, 1);
    stripes.push({ dye, colour, threads: width + 2 * (next() % 4) });
  }
  return new Tartan(wearer, stripes);
}

/** Pseudo-random numbers from a text (FNV-1a, mixed again for each number). */
function numbersFrom(text: string): () => number {
  let hash = 2166136261;
  const stir = (byte: number): number => (hash = Math.imul(hash ^ byte, 16777619) >>> 0);
  for (const byte of new TextEncoder().encode(text)) stir(byte);
  return () => stir(hash >>> 24) >>> 8;
}
