// Several versions in one file: their names differ, and the segment file's `as` unites them.
export async function priceTwo(metres: number = 2): Promise<string> {
  return `price 2.1.0 for ${metres}`;
}

export async function priceTen(): Promise<string> {
  return "price 10.0.0";
}

/** Protected: for services only. */
export async function priceNext(): Promise<string> {
  return "price 11.0.0";
}

/** Has no version 0.0.0. */
export async function later(): Promise<string> {
  return "later 1.2.0";
}
