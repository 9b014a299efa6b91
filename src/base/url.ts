/**
 * The URL that a text is, or undefined. `URL.canParse` isn't an answer in Node 20: once it has been called some
 * thousand times, it refuses hosts such as `müller.example`.
 */
export function parsedUrl(text: string, base?: string): URL | undefined {
  try {
    return new URL(text, base);
  } catch {
    return undefined;
  }
}
