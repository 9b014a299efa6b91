// The coding of a body, as its caller accepts it.

/** Of those that are sent; the first is preferred if the caller doesn't mind. */
export type Coding = "br" | "gzip";

/**
 * The coding among `available` that the caller prefers, the first if there is a tie (RFC 9110, section 12.5.3,
 * without `*`). `undefined` if it prefers plain bytes.
 */
export function codingFor<Available extends Coding>(
  accepted: string | readonly string[] | undefined,
  available: readonly Available[],
): Available | undefined {
  if (typeof accepted !== "string") return undefined;
  const weights = new Map<string, number>();
  for (const item of accepted.split(",")) {
    const [name = "", ...parameters] = item.split(";").map((part) => part.trim().toLowerCase());
    const weight = parameters.find((part) => part.startsWith("q="));
    weights.set(name, weight === undefined ? 1 : Number(weight.slice(2)));
  }
  const weightOf = (name: string): number => weights.get(name) ?? 0;
  const [best] = available.toSorted((a, b) => weightOf(b) - weightOf(a));
  return best !== undefined && weightOf(best) > 0 && weightOf(best) >= weightOf("identity")
    ? best
    : undefined;
}
