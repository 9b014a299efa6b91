import type { Cloth } from "./cloth.ts";

/** Sorts cloths by how well the words match: by name, then by colour, then by anything else. */
export async function rank(text: string, cloths: readonly Cloth[]): Promise<Cloth[]> {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  const score = (cloth: Cloth): number => {
    const [name, colourway] = [cloth.name.toLowerCase(), cloth.colourway.toLowerCase()];
    return words.reduce(
      (sum, word) =>
        sum +
        (name.startsWith(word)
          ? 4
          : name.includes(word)
            ? 3
            : colourway.startsWith(word)
              ? 2
              : colourway.includes(word)
                ? 1
                : 0),
      0,
    );
  };
  return cloths
    .map((cloth, at) => ({ cloth, at, score: score(cloth) }))
    .sort((a, b) => b.score - a.score || a.at - b.at)
    .map((scored) => scored.cloth);
}
