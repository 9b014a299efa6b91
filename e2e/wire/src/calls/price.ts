// Version 0.0.0; the other versions are in price-one.ts and price-more.ts.
export async function price(): Promise<string> {
  return "price 0.0.0";
}
