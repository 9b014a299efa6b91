// Reads server manifests, from a build's folder or from a repository.

import type { ServerManifest } from "../../src/base/manifest.ts";
import { fromStored, type StoredManifest } from "../../src/codec/stored-manifest.ts";

const fileName = /^(?!\.{1,2}(?:\/|$))[^/\\\0]+(?:\/(?!\.{1,2}(?:\/|$))[^/\\\0]+)*$/;

/**
 * Reads a server manifest, and checks the names and hashes by which files are written: names stay in their folder,
 * hashes are hashes.
 */
export function parseManifest(text: string, where: string): ServerManifest {
  const wrong = (what: string): Error =>
    new Error(
      `${where} isn't a manifest that this version of Seamline can use: ${what}. Build again`,
    );
  let stored: Partial<ServerManifest | StoredManifest> | null;
  try {
    stored = JSON.parse(text) as typeof stored;
  } catch {
    throw wrong("it isn't JSON");
  }
  let manifest: Partial<ServerManifest>;
  try {
    manifest = fromStored(stored);
  } catch (error) {
    throw wrong((error as Error).message);
  }
  if (typeof manifest.revision !== "string" || !/^\w[\w.-]{0,127}$/.test(manifest.revision))
    throw wrong("it has no revision");
  if (typeof manifest.files !== "object" || manifest.files === null)
    throw wrong("it lists no files");
  for (const list of ["procedures", "classes", "browserSegments"] as const)
    if (!Array.isArray(manifest[list])) throw wrong(`it lists no ${list}`);
  for (const map of ["segments", "modules", "imports"] as const)
    if (typeof manifest[map] !== "object" || manifest[map] === null)
      throw wrong(`it has no ${map}`);
  for (const [name, record] of Object.entries(manifest.files)) {
    if (!fileName.test(name) || name === "package.json")
      throw wrong(`it names a file ${JSON.stringify(name)}`);
    if (!/^sha256-[A-Za-z0-9+/]{43}=$/.test(record?.integrity))
      throw wrong(`the file ${name} has no hash`);
    if (!Array.isArray(record.imports)) throw wrong(`the file ${name} has no list of imports`);
  }
  return manifest as ServerManifest;
}
