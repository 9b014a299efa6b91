/** Guarded. */
export async function members(): Promise<string> {
  return "members";
}
