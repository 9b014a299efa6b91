import { FileNotFound, SegmentNotFound } from "../src/base/errors.ts";
import type { Manifest } from "../src/base/manifest.ts";
import { nearest } from "../src/base/problem.ts";

/** The error of `client.import` for a module that browsers can't get; it names both remedies. */
export function noSuchModule({ modules }: Manifest, path: string): FileNotFound {
  const suggestion = nearest(withoutExtension(path.replace(/^(\.?\/)+/, "")), Object.keys(modules));
  return new FileNotFound(
    `'${path}' is not a module that browsers can get; a literal client.import('${path}') in the application, or a glob in browserModules, makes it one` +
      (suggestion === undefined ? "" : `; did you mean './${suggestion}'?`),
  );
}

/**
 * The error of `startClient`. A forbidden segment and a missing one get the same message, so that
 * neither is revealed.
 */
export function noSuchSegment({ segments }: Manifest, segment: unknown): Error {
  return typeof segment === "object"
    ? new TypeError(
        'startClient takes names of segments, startClient("ui"), or { segments: ["ui"] }',
      )
    : new SegmentNotFound(
        `segment '${segment as string}' is not one that browsers may load (${Object.keys(segments).join(", ") || "none"}); see browserSegments`,
      );
}

export function withoutExtension(path: string): string {
  return path.replace(/\.(m?[jt]s|[jt]sx)$/, "");
}
