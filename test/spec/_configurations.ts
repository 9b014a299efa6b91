// The smallest configuration of each mode, and the problems of wrong ones.

import { expect } from "vitest";

import { parseConfig } from "../../server/config/config.ts";
import { Problems } from "../../src/base/problem.ts";

/** A configuration as `seamline.json` in /app would have it. */
export const parse = (
  value: unknown,
  env: Record<string, string> = {},
): ReturnType<typeof parseConfig> => parseConfig(value, "seamline.json", { root: "/app", env });
/** `key: message → hint` of each problem. */
export function configProblems(
  value: unknown,
  env: Record<string, string> = {},
): readonly string[] {
  try {
    parse(value, env);
  } catch (error) {
    if (!(error instanceof Problems)) throw error;
    expect(error.problems.every(({ file }) => file === "seamline.json")).toBe(true);
    return error.problems.map(
      (problem) =>
        `${problem.path}: ${problem.message}${problem.hint === undefined ? "" : ` → ${problem.hint}`}`,
    );
  }
  return [];
}

export const ownUrl = "http://127.0.0.1:4000";
export const otherUrl = "http://127.0.0.1:3000";
export const node = { mode: "node", url: ownUrl, repository: otherUrl, segments: ["shop"] };
export const gateway = { mode: "gateway", url: ownUrl };
export const repository = { mode: "repository", url: ownUrl };
export const proxy = { mode: "proxy", url: ownUrl, gateway: otherUrl, repository: otherUrl };
export const standalone = { mode: "standalone", url: ownUrl };
/** An application of two segments. */
export const twoSegments = {
  "src/stock.ts": "export async function stock() { return 1; }\n",
  "src/filter.ts": "export async function filter() { return 2; }\n",
  "shop.segment.json": '{ "./stock": { "stock": { "access": "public" } } }',
  "page.one.segment.json": '{ "./filter": { "filter": { "access": "public" } } }',
};
export const modes = [node, gateway, repository, proxy, standalone] as const;
