import { OutOfStock } from "./errors.ts";

export interface OrderLine {
  readonly sku: string;
  /** Whole metres. */
  readonly metres: number;
}

// What was sold since this node started. A real shop would have a database here.
const sold = new Map<string, number>();

const onRoll = (sku: string): number => {
  let mixed = 7;
  for (let at = 0; at < sku.length; at++) mixed = (Math.imul(mixed, 31) + sku.charCodeAt(at)) >>> 0;
  return Math.max(0, (mixed % 47) - 2);
};

const left = (sku: string): number => Math.max(0, onRoll(sku) - (sold.get(sku) ?? 0));

/** Metres left of each cloth. */
export async function stockLevels(...skus: string[]): Promise<Map<string, number>> {
  return new Map(skus.map((sku) => [sku, left(sku)]));
}

/** Takes every line from its roll, or none of them. Private: an order calls it, nobody else can. */
export async function reserve(lines: readonly OrderLine[]): Promise<void> {
  const wanted = new Map<string, number>();
  // Two lines may be for one roll.
  for (const { sku, metres } of lines) wanted.set(sku, (wanted.get(sku) ?? 0) + metres);
  for (const [sku, metres] of wanted)
    if (left(sku) < metres) throw new OutOfStock(sku, metres, left(sku));
  for (const { sku, metres } of lines) sold.set(sku, (sold.get(sku) ?? 0) + metres);
}
