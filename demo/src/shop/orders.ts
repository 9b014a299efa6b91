import { BadRequest } from "seamline";
import type { MaxLength } from "seamline/types";
import { Money } from "./money.ts";
import { quote } from "./quote.ts";
import { type OrderLine, reserve } from "./stock.ts";

/** Confirms an order. */
export class Receipt {
  readonly number: string;
  readonly placed: Date;
  readonly total: Money;

  constructor(number: string, placed: Date, total: Money) {
    this.number = number;
    this.placed = placed;
    this.total = total;
  }
}

const receipts = new Map<string, Receipt>();

/** Each line costs calls to other nodes. */
type Lines = readonly OrderLine[] & MaxLength<50>;

/** Sells all lines or none. Throws {@link OutOfStock} if a roll is too short. */
export async function placeOrder(lines: Lines): Promise<Receipt> {
  if (lines.length === 0) throw new BadRequest("There is nothing in this order");
  const quotes = await Promise.all(lines.map((line) => quote(line.sku, line.metres)));
  await reserve(lines);
  const total = quotes.reduce((sum, one) => sum.plus(one.total()), new Money(0, "EUR"));
  const receipt = new Receipt(`S-${1001 + receipts.size}`, new Date(), total);
  receipts.set(receipt.number, receipt);
  return receipt;
}
