// Vite's `base`, if it is a path: pages and all that they ask for are below it. The first service that gets a
// request from outside takes it off, so no other part of a service knows it.

import type { HttpResponse } from "../base/ports.ts";
import { answerHeaders } from "../base/protocol.ts";

/** The path below which pages are. */
export interface BasePath {
  /** `/shop`, or "" at the root. `undefined` until the service has learned it. */
  readonly path: string | undefined;
  /** Learns it, if that is possible now. Never rejects. */
  find(): Promise<void>;
}

export const noBase: BasePath = fixedBase("/");

/** For a service that has the build: `base` is the recorded path. */
export function fixedBase(base: string): BasePath {
  return { path: base.replace(/\/$/, ""), find: async () => {} };
}

/**
 * A target without the base in front of it. A target that isn't below the base stays as it is, since a proxy in
 * front may have taken the base off. Compares the target as sent, letter by letter.
 */
export function below(path: string, target: string): string {
  return path !== "" && target.startsWith(`${path}/`) ? target.slice(path.length) : target;
}

/** Redirects the base without its slash: from there, relative addresses would lead nowhere. */
export function redirectToBase(path: string, target: string): HttpResponse | undefined {
  const query = target.slice(path.length);
  if (path === "" || !target.startsWith(path) || !(query === "" || query.startsWith("?")))
    return undefined;
  return { status: 308, headers: { location: `${path}/${query}`, ...answerHeaders } };
}
