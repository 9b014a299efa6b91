// Fetches a manifest for browsers from the page's service.

import { BadGateway } from "../src/base/errors.ts";
import type { Manifest } from "../src/base/manifest.ts";
import { browserManifestPath, revisionQuery } from "../src/base/protocol.ts";

/** Whether `value` has the format that this client reads: a client of another release may have stored it. */
export function isManifest(value: unknown): value is Manifest {
  return (value as Partial<Manifest> | null | undefined)?.format === 1;
}

/**
 * Reads `/svc/manifest.json`, revalidating caches: the manifest of the build `revision`, if it is
 * still served, else the current one. Rejects with {@link BadGateway}.
 */
export async function fetchManifest(base: string, revision?: string): Promise<Manifest> {
  const url = `${base}${browserManifestPath}${revision ? revisionQuery + revision : ""}`;
  try {
    const response = await fetch(url, { cache: "no-cache" });
    if (!response.ok) throw new Error(`status ${response.status}`);
    const answer: unknown = await response.json();
    if (!isManifest(answer)) throw new Error("no manifest");
    return answer;
  } catch (cause) {
    throw new BadGateway(
      `Can't read ${url} (${(cause as Error).message}): Seamline must serve it`,
      { cause },
    );
  }
}
