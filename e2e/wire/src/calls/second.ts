// Runs on the other node.

/** Returns its arguments as text, so that missing ones show. */
export async function second(first: unknown, other: unknown): Promise<string> {
  return `${String(first)} and ${String(other)}`;
}
