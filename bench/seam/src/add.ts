/** What is called: through a seam by the other module, and as a plain function by its twin. */
export async function add(a: number, b: number): Promise<number> {
  return a + b;
}
