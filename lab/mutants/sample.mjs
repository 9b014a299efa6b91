// Chooses the mutants to run: a seeded sample with a share for each function.
import { apply, isParsable, mutantsOf } from "./mutators.mjs";

/**
 * @typedef {import("./mutators.mjs").Mutant} Mutant
 * @typedef {{ path: string, text: string }} Source
 */

/**
 * @param {readonly Source[]} sources
 * @param {{ seed: number, count: number }} options
 * @returns {Mutant[]}
 */
export function sampleOf(sources, { seed, count }) {
  const random = randomOf(seed);
  const texts = new Map(sources.map(({ path, text }) => [path, text]));
  // Grouped by function, in random order within each, so that even steps through the list hit as
  // many functions as possible.
  const all = sources
    .flatMap(({ path, text }) => [...byFunction(mutantsOf(path, text))])
    .flatMap((group) => shuffled(group, random));
  const step = Math.max(1, all.length / count);
  const taken = new Set();
  for (let at = random() * step; at < all.length; at += step) {
    // Skips mutants that don't parse, so that the sample has the requested size.
    let index = Math.floor(at);
    const parses = (/** @type {Mutant} */ mutant) =>
      isParsable(mutant.path, apply(/** @type {string} */ (texts.get(mutant.path)), mutant));
    while (index < all.length && (taken.has(index) || !parses(/** @type {Mutant} */ (all[index]))))
      index++;
    if (index < all.length) taken.add(index);
  }
  return [...taken].toSorted((a, b) => a - b).map((index) => /** @type {Mutant} */ (all[index]));
}

/** @param {readonly Mutant[]} mutants */
function byFunction(mutants) {
  /** @type {Map<string, Mutant[]>} */
  const groups = new Map();
  for (const mutant of mutants) {
    const group = groups.get(mutant.fn) ?? [];
    groups.set(mutant.fn, group);
    group.push(mutant);
  }
  return groups.values();
}

/**
 * @template T
 * @param {readonly T[]} values
 * @param {() => number} random
 */
function shuffled(values, random) {
  return values
    .map((value) => ({ value, order: random() }))
    .toSorted((a, b) => a.order - b.order)
    .map(({ value }) => value);
}

/** mulberry32, which gives the same numbers for a seed on every machine.
 * @param {number} seed
 */
function randomOf(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
