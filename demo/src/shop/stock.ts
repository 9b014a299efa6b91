import type { Int, Max, Min } from "seamline/types";
import { OutOfStock } from "./errors.ts";

export interface OrderLine {
  readonly sku: string;
  readonly metres: number & Int & Min<1> & Max<500>;
}

// Sales since this node started. A real shop would use a database.
const sold = new Map<string, number>();

const onRoll = (sku: string): number => {
  let mixed = 7;
  for (let at = 0; at < sku.length; at++) mixed = (Math.imul(mixed, 31) + sku.charCodeAt(at)) >>> 0;
  return Math.max(0, (mixed % 47) - 2);
};

const left = (sku: string): number => Math.max(0, onRoll(sku) - (sold.get(sku) ?? 0));

/** The metres left of each cloth. */
export async function stockLevels(...skus: string[]): Promise<Map<string, number>> {
  return new Map(skus.map((sku) => [sku, left(sku)]));
}

/** Takes all lines from their rolls, or none. Private: only orders can call it. */
export async function reserve(lines: readonly OrderLine[]): Promise<void> {
  const metresBySku = new Map<string, number>();
  // Several lines may be for the same roll.
  for (const { sku, metres } of lines) metresBySku.set(sku, (metresBySku.get(sku) ?? 0) + metres);
  for (const [sku, metres] of metresBySku)
    if (left(sku) < metres) throw new OutOfStock(sku, metres, left(sku));
  for (const { sku, metres } of lines) sold.set(sku, (sold.get(sku) ?? 0) + metres);
}
