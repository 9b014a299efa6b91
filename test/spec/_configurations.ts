// Configurations of each mode, as small as they can be, and what is told of wrong ones.

import { expect } from "vitest";

import { parseConfig } from "../../server/config.ts";
import { Problems } from "../../src/problem.ts";

/** A configuration as `seamline.json` in /app would have it. */
export const parse = (
  value: unknown,
  env: Record<string, string> = {},
): ReturnType<typeof parseConfig> => parseConfig(value, "seamline.json", { root: "/app", env });
/** `key: message → hint` of each problem. */
export function told(value: unknown, env: Record<string, string> = {}): readonly string[] {
  try {
    parse(value, env);
  } catch (error) {
    if (!(error instanceof Problems)) throw error;
    expect(error.problems.every(({ file }) => file === "seamline.json")).toBe(true);
    return error.problems.map(
      (one) => `${one.path}: ${one.message}${one.hint === undefined ? "" : ` → ${one.hint}`}`,
    );
  }
  return [];
}

export const here = "http://127.0.0.1:4000";
export const there = "http://127.0.0.1:3000";
export const node = { mode: "node", url: here, repository: there, segments: ["shop"] };
export const gateway = { mode: "gateway", url: here };
export const repository = { mode: "repository", url: here };
export const proxy = { mode: "proxy", url: here, gateway: there, repository: there };
export const standalone = { mode: "standalone", url: here };
/** An application of two segments. */
export const twoSegments = {
  "src/stock.ts": "export async function stock() { return 1; }\n",
  "src/filter.ts": "export async function filter() { return 2; }\n",
  "shop.segment.json": '{ "./stock": { "stock": { "access": "public" } } }',
  "page.one.segment.json": '{ "./filter": { "filter": { "access": "public" } } }',
};
export const modes = [node, gateway, repository, proxy, standalone] as const;
