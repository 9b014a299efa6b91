// Version 0.0.0 of three: each does its own.
export async function price(): Promise<string> {
  return "price 0.0.0";
}
