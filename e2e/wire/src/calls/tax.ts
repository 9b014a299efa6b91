// In no segment, so it runs wherever it is imported.
export const tax = "tax 0.2";

export async function unsegmented(): Promise<string> {
  return tax;
}
