// On the other node.

/** Says whether its arguments were there. */
export async function second(first: unknown, other: unknown): Promise<string> {
  return `${String(first)} and ${String(other)}`;
}
