// Tags that a build adds to its pages, so that requests which could go out together don't wait for
// each other.

import { readFile, writeFile } from "node:fs/promises";
import { gzipSync } from "node:zlib";

import { browserManifestPath, paths, revisionQuery } from "../../../src/base/protocol.ts";
import { addressBelow, keptPath } from "./page-base.ts";

/** Bytes of a manifest, gzipped, that a page carries. A larger one is cached apart from it. */
const mostEmbeddedBytes = 4096;

/** The build of a page. */
export interface SignedBuild {
  readonly revision: string;
  /** The manifest for browsers, as JSON. */
  readonly manifest: string;
  /** Vite's `base`, if it is a path; else `/`. */
  readonly base: string;
  /** Whether what pages send or get needs `/svc/codec.js`. */
  readonly codec: boolean;
}

/**
 * A page names its build, so that it isn't used with the manifest of another one. Its modules
 * import the runtime, which is preloaded here so that it loads beside them, and the runtime needs
 * the manifest, which is in the page if it's small. The codec would otherwise load after the first
 * answer that needs it.
 */
export async function signPage(file: string, build: SignedBuild): Promise<void> {
  const { revision, base, codec } = build;
  const html = await readFile(file, "utf8");
  const isClient = /<script\b[^>]*\bmodule\b/i.test(html);
  const tags = [
    `<meta name="seamline-revision" content="${revision}">`,
    ...(isClient ? [paths.client, paths.remote, ...(codec ? [paths.codec] : [])] : []).map(
      (path) => `<link rel="modulepreload" href="${addressBelow(base, keptPath(path))}">`,
    ),
  ];
  const head =
    /<head\b[^>]*>/i.exec(html) ?? /<html\b[^>]*>/i.exec(html) ?? /<!doctype\b[^>]*>/i.exec(html);
  const start = endOf(head);
  // Browsers look for the character set in the first 1024 bytes.
  const later = Math.max(start, endOf(/<meta\b[^>]*\bcharset\b[^>]*>/i.exec(html)));
  const lines = tags.map((tag) => `\n    ${tag}`).join("");
  const data = isClient ? `\n    ${manifestTag(build)}` : "";
  await writeFile(
    file,
    html.slice(0, start) + lines + html.slice(start, later) + data + html.slice(later),
  );
}

const endOf = (found: RegExpExecArray | null): number =>
  found === null ? 0 : found.index + found[0].length;

/**
 * The manifest as a data block, which isn't a script to any content security policy; a large one as
 * a preload of the client's request, which names its build: after a deploy the page still gets its own.
 */
export function manifestTag({ manifest, revision, base }: Omit<SignedBuild, "codec">): string {
  if (gzipSync(manifest, { level: 9 }).length > mostEmbeddedBytes)
    return `<link rel="preload" as="fetch" crossorigin href="${addressBelow(base, browserManifestPath)}${revisionQuery}${revision}">`;
  // Nothing in it can end the script, or depends on the page's character set.
  const text = manifest.replace(
    /[<>&\u007f-\uffff]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
  return `<script type="application/json" id="seamline-manifest">${text}</script>`;
}
