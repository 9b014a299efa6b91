// Pages name ports from 3000 on. Each run has free ones in their place, so that pages run beside each other and beside a
// service of the person who runs them; outputs name the ports of the page again.

import { freePort } from "../_free-port.ts";

/** A number that a page means as a port: behind an address, or behind the word. */
const mention = /((?:127\.0\.0\.1|localhost):|\bport["']?[:=]? ?|PORT(?::-|=))(30\d\d)\b/gi;

export interface Ports {
  /** All of them, as they are in this run. */
  readonly real: readonly number[];
  /** A text of the page, for this run. */
  toReal(text: string): string;
  /** An output of this run, for the page. */
  toPage(text: string): string;
}

export async function portsFor(page: string): Promise<Ports> {
  const named = new Set([...page.matchAll(mention)].map(([, , port = ""]) => port));
  const real = new Map<string, string>();
  for (const port of named) real.set(port, String(await freePort()));
  return {
    real: [...real.values()].map(Number),
    toReal: (text) =>
      text.replaceAll(
        mention,
        (all, before: string, port: string) => `${before}${real.get(port) ?? all}`,
      ),
    toPage: (text) =>
      [...real].reduce(
        (done, [port, there]) => done.replaceAll(new RegExp(`\\b${there}\\b`, "g"), port),
        text,
      ),
  };
}
