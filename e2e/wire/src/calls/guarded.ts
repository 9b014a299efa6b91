/** For services, and who shows the key (§2.1). */
export async function guarded(): Promise<string> {
  return "guarded";
}
