// The browser's manifest, as the page's origin has it now.

import { BadGateway } from "../src/errors.ts";
import type { Manifest } from "../src/manifest.ts";
import { browserManifestPath } from "../src/protocol.ts";

/** A manifest of the format that this client reads; what an older one left in storage is none. */
export function isManifest(value: unknown): value is Manifest {
  return (value as Partial<Manifest> | null | undefined)?.format === 1;
}

/** Reads `/svc/manifest.json` (§4.6), past caches that did not ask the server. Rejects with {@link BadGateway}. */
export async function fetchManifest(origin: string): Promise<Manifest> {
  const url = origin + browserManifestPath;
  let found: unknown;
  try {
    const response = await fetch(url, { cache: "no-cache" });
    found = response.ok ? await response.json() : `status ${response.status}`;
  } catch (cause) {
    throw unreadable(url, cause);
  }
  if (!isManifest(found)) throw unreadable(url, found);
  return found;
}

function unreadable(url: string, cause: unknown): BadGateway {
  const reason =
    cause instanceof Error
      ? cause.message
      : typeof cause === "string"
        ? cause
        : "it is no manifest";
  return new BadGateway(
    `${url} can't be read (${reason}): a page has to come from a Seamline service`,
    { cause },
  );
}
