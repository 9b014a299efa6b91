// Differences between the types of two builds, as callers of the earlier one see them.

export type Level = "breaking" | "risky" | "fine";

/** A change that callers notice. */
export interface Difference {
  readonly level: Exclude<Level, "fine">;
  /** Path of the value that differs, from the type that is compared: `[].metres`. */
  readonly path: string;
  readonly message: string;
  readonly advice: string;
  /** A member that no type declares any more, so that it is dropped. */
  readonly dropped?: true;
  /**
   * Stands for the differences of an enclosing pair, which lists them itself; if there are several, of the
   * outermost.
   */
  readonly repeats?: OpenPair;
}

/** Two types whose parts are being compared. */
export interface OpenPair {
  /** The number of pairs around it. */
  readonly depth: number;
  /** The result that was assumed for it where it was met again inside itself. */
  assumed?: Level;
}

/** The most differences that are listed for one type. */
export const maxDifferences = 20;

const ranks: Readonly<Record<Level, number>> = { breaking: 0, risky: 1, fine: 2 };

/** The worst come first. */
export function byLevel(left: { readonly level: Level }, right: { readonly level: Level }): number {
  return ranks[left.level] - ranks[right.level];
}

export function worse(left: Level, right: Level): Level {
  return ranks[left] < ranks[right] ? left : right;
}

export function worstOf(differences: readonly Difference[]): Level {
  if (differences.some(({ level }) => level === "breaking")) return "breaking";
  return differences.length > 0 ? "risky" : "fine";
}

export function isBreaking(differences: readonly Difference[]): boolean {
  return worstOf(differences) === "breaking";
}

/** The differences of a part, with paths from the whole. */
export function inside(part: string, differences: readonly Difference[]): Difference[] {
  return differences.map((difference) => ({ ...difference, path: part + difference.path }));
}

function outermost(left: Difference | undefined, right: Difference): Difference {
  if (left?.repeats === undefined || right.repeats === undefined) return right;
  return {
    ...left,
    level: byLevel(left, right) < 0 ? left.level : right.level,
    repeats: left.repeats.depth < right.repeats.depth ? left.repeats : right.repeats,
  };
}

/** Each difference once, the worst first, at most {@link maxDifferences}. */
export function distinct(differences: readonly Difference[]): readonly Difference[] {
  if (differences.length < 2) return differences;
  const told = differences.filter(({ repeats }) => repeats === undefined);
  const known = new Map(
    told.map((difference) => [`${difference.path} ${difference.message}`, difference]),
  );
  const [first, ...others] = differences.filter(({ repeats }) => repeats !== undefined);
  const repeated = others.reduce(outermost, first);
  return [
    ...[...known.values()].sort(byLevel).slice(0, maxDifferences),
    ...(repeated === undefined ? [] : [repeated]),
  ];
}

export function breaking(message: string, way: string, path = ""): Difference {
  return { level: "breaking", path, message, advice: way };
}

export function risky(message: string, way: string, path = ""): Difference {
  return { level: "risky", path, message, advice: way };
}

export const advice = {
  version: "Keep this version as it was, and put the change into a new one",
  required: "Make it optional, or put the change into a new version",
  narrower: "Keep taking what it took, or put the change into a new version",
  name: "Arguments are sent by name: keep it, or put the change into a new version",
  result: "Keep what callers read, or put the change into a new version",
  wider: "Make sure that callers pass over what they don't know, or put it into a new version",
  dropped: "Keep the member as long as callers send it, or put the change into a new version",
  reading: "Callers that send plain JSON, queries or forms meet it: put it into a new version",
  class: "Keep the class as it was, and use another one in a new version",
} as const;
