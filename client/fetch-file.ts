/**
 * Fetches a module where `modulepreload` doesn't: checks the same digest and fills the HTTP cache.
 */
export async function fetchFile(url: string, integrity: string): Promise<void> {
  const response = await fetch(url, { integrity });
  if (!response.ok) throw new Error(`status ${response.status}`);
}
