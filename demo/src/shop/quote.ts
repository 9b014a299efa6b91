import { BadRequest } from "seamline";
import { cloth } from "./catalogue.ts";
import type { Money } from "./money.ts";
import { stockLevels } from "./stock.ts";

/** The current price of a length of cloth. */
export class Quote {
  readonly #sku: string;
  readonly #metres: number;
  readonly #unit: Money;
  /** Metres on the roll when the quote was made. */
  readonly left: number;

  constructor(sku: string, metres: number, unit: Money, left: number) {
    this.#sku = sku;
    this.#metres = metres;
    this.#unit = unit;
    this.left = left;
  }

  get sku(): string {
    return this.#sku;
  }

  get metres(): number {
    return this.#metres;
  }

  get unit(): Money {
    return this.#unit;
  }

  /** In percent. */
  discount(): number {
    return discountFor(this.#metres);
  }

  total(): Money {
    return this.#unit.times(this.#metres * (1 - this.discount() / 100));
  }
}

/** The discount for long lengths, in percent. */
export function discountFor(metres: number): number {
  return metres >= 15 ? 10 : metres >= 5 ? 5 : 0;
}

/** Combines the catalogue's price with the warehouse's stock, wherever the two run. */
export async function quote(sku: string, metres: number): Promise<Quote> {
  if (!Number.isInteger(metres) || metres < 1 || metres > 500)
    throw new BadRequest(`Cloth is cut in whole metres from 1 to 500, not ${metres}`);
  const [piece, levels] = await Promise.all([cloth(sku), stockLevels(sku)]);
  return new Quote(sku, metres, piece.price, levels.get(sku) ?? 0);
}
