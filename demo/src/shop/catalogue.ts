import { find, rows } from "./catalogue-data.ts";
import { Cloth } from "./cloth.ts";
import { UnknownCloth } from "./errors.ts";

// Callers of the catalogue get cloths: their class goes along.
export { Cloth };

export interface Found {
  /** How many cloths match; `hits` holds the first of them. */
  readonly total: number;
  readonly hits: Cloth[];
}

/**
 * Finds cloths with words that begin with the words of the text, newest first. `under 40` limits
 * the price.
 */
export async function search({
  text = "",
  offset = 0,
  limit = 24,
}: {
  text?: string;
  offset?: number;
  limit?: number;
}): Promise<Found> {
  const { words, under } = read(text);
  const matching = rows.filter(
    (row) =>
      row.cloth.price.cents <= under &&
      words.every((word) => row.text.startsWith(word) || row.text.includes(` ${word}`)),
  );
  return {
    total: matching.length,
    hits: matching.slice(offset, offset + Math.min(limit, 96)).map((row) => row.cloth),
  };
}

export async function cloth(sku: string): Promise<Cloth> {
  const row = find(sku);
  if (row === undefined) throw new UnknownCloth(sku);
  return row.cloth;
}

function read(text: string): { words: readonly string[]; under: number } {
  const price = /\b(?:under|below) €? ?(\d+)\b/i.exec(text);
  const rest = price === null ? text : text.replace(price[0], " ");
  return {
    words: rest.toLowerCase().replaceAll("’", "'").split(/\s+/).filter(Boolean),
    under: price === null ? Infinity : Number(price[1]) * 100,
  };
}
