/** Protected: for services, and callers with the key. */
export async function guarded(): Promise<string> {
  return "guarded";
}
