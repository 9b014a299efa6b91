import { tax } from "./tax.ts";

/** The same name in another file (§9.3). */
export async function price(): Promise<string> {
  return `price 1.0.0, ${tax}`;
}
