// Several versions in one file: other names, one `as` (§9.3).
export async function priceTwo(metres: number = 2): Promise<string> {
  return `price 2.1.0 for ${metres}`;
}

export async function priceTen(): Promise<string> {
  return "price 10.0.0";
}

/** For services only. */
export async function priceNext(): Promise<string> {
  return "price 11.0.0";
}

/** No version 0.0.0 of this is there. */
export async function later(): Promise<string> {
  return "later 1.2.0";
}
