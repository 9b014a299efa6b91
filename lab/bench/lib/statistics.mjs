// Medians, and how far they can be trusted.

/** @param {readonly number[]} values */
export function median(values) {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  const at = sorted[middle] ?? NaN;
  return sorted.length % 2 === 1 ? at : ((sorted[middle - 1] ?? NaN) + at) / 2;
}

/** Random numbers from 0 to 1 that are the same in each run. @param {number} seed */
function randomFrom(seed) {
  return () => {
    seed = (seed + 0x6d2b79f5) | 0;
    let bits = Math.imul(seed ^ (seed >>> 15), 1 | seed);
    bits = (bits + Math.imul(bits ^ (bits >>> 7), 61 | bits)) ^ bits;
    return ((bits ^ (bits >>> 14)) >>> 0) / 2 ** 32;
  };
}

/**
 * The interval in which 95 % of the medians of resampled values lie.
 * @param {readonly number[]} values
 * @returns {[number, number]}
 */
export function interval(values, samples = 2_000) {
  const random = randomFrom(values.length);
  const medians = Array.from({ length: samples }, () =>
    median(values.map(() => values[Math.floor(random() * values.length)] ?? NaN)),
  ).sort((a, b) => a - b);
  const at = (/** @type {number} */ index) => medians[index] ?? NaN;
  return [at(Math.floor(samples * 0.025)), at(Math.ceil(samples * 0.975) - 1)];
}
