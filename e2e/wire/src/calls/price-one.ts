import { tax } from "./tax.ts";

/** Another version, with the same name in another file. */
export async function price(): Promise<string> {
  return `price 1.0.0, ${tax}`;
}
