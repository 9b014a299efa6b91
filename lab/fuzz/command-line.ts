// The shared part of this folder's commands: `npm run fuzz` and `npm run soak`.

/** Gets the words of a command line, and returns the exit code. */
export type Main = (words: readonly string[], print: (line: string) => void) => Promise<number>;

/** The number that an option has. Throws with the option's name if it has none. */
export function numberOf(option: string, text: string, least = 0): number {
  const value = Number(text);
  if (Number.isSafeInteger(value) && value >= least) return value;
  throw new Error(`--${option} must be a whole number from ${least}, not ${text}`);
}
