// In no segment: everywhere (§1.4).
export const tax = "tax 0.2";

export async function unsegmented(): Promise<string> {
  return tax;
}
