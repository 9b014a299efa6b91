import { Money } from "./money.ts";
import { discountFor } from "./quote.ts";

export interface BasketLine {
  readonly sku: string;
  readonly metres: number;
  readonly unit: Money;
}

export interface Totals {
  /** One per line, in order, after discount. */
  readonly lines: Money[];
  readonly saved: Money;
  readonly total: Money;
}

/** The total of a basket. */
export async function basketTotals(lines: readonly BasketLine[]): Promise<Totals> {
  const full = lines.map((line) => line.unit.times(line.metres));
  const reduced = lines.map((line, at) => full[at]!.times(1 - discountFor(line.metres) / 100));
  const sum = (amounts: readonly Money[]): Money =>
    amounts.reduce((one, other) => one.plus(other), new Money(0, "EUR"));
  return { lines: reduced, saved: sum(full).plus(sum(reduced).times(-1)), total: sum(reduced) };
}
