// Fetches the current manifest for browsers from the page's origin.

import { BadGateway } from "../src/base/errors.ts";
import type { Manifest } from "../src/base/manifest.ts";
import { browserManifestPath } from "../src/base/protocol.ts";

/** Whether `value` has the format that this client reads; older clients may have stored another. */
export function isManifest(value: unknown): value is Manifest {
  return (value as Partial<Manifest> | null | undefined)?.format === 1;
}

/** Reads `/svc/manifest.json`, revalidating caches. Rejects with {@link BadGateway}. */
export async function fetchManifest(origin: string): Promise<Manifest> {
  const url = origin + browserManifestPath;
  let answer: unknown;
  try {
    const response = await fetch(url, { cache: "no-cache" });
    answer = response.ok ? await response.json() : `status ${response.status}`;
  } catch (cause) {
    throw unreadable(url, cause);
  }
  if (!isManifest(answer)) throw unreadable(url, answer);
  return answer;
}

function unreadable(url: string, cause: unknown): BadGateway {
  const reason =
    cause instanceof Error
      ? cause.message
      : typeof cause === "string"
        ? cause
        : "it isn't a manifest";
  return new BadGateway(
    `Can't read ${url} (${reason}): the page must be served by a Seamline service`,
    { cause },
  );
}
