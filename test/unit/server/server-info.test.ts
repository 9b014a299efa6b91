// `Server.info` of a service in each mode, and the line that the service logs at its start.

import { describe, expect, it } from "vitest";
import type { Config } from "../../../server/config/config-types.ts";
import { serverInfo, startedLine } from "../../../server/start/server-info.ts";

const url = "http://127.0.0.1:3000";
const repository = "http://repository:3001";
const gateway = "http://gateway:3002";
const trustKey = "not to be told";
const files = { source: "/a/src", output: "/a/dist", index: "index.html", assets: [], trustKey };
const loaded = { segments: ["orders", "stock"], procedures: 3 };
const feed = { name: "site/feed", method: "GET", path: "/feed.xml" };

const cases: readonly [Config, Parameters<typeof serverInfo>[2], object, string][] = [
  [
    { mode: "standalone", url: "http://127.0.0.1:0", ...files, name: "here", console: false },
    { ...loaded, routes: [feed] },
    { mode: "standalone", url, name: "here", ...loaded, routes: 1 },
    `standalone at ${url} (segments: orders, stock; procedures: 3; routes: 1)`,
  ],
  [
    { mode: "node", url, trustKey, gateway, repository, segments: ["orders", "stock"] },
    loaded,
    { mode: "node", url, gateway, repository, ...loaded, routes: 0 },
    `node at ${url} (segments: orders, stock; procedures: 3)`,
  ],
  [
    { mode: "gateway", url, trustKey, healthIntervalMs: 5_000, console: true },
    { members: [] },
    { mode: "gateway", url, members: [] },
    `gateway at ${url} (members: none)`,
  ],
  [{ mode: "repository", url, ...files }, {}, { mode: "repository", url }, `repository at ${url}`],
  [
    { mode: "proxy", url, trustKey, gateway, repository, console: false },
    {},
    { mode: "proxy", url, gateway, repository },
    `proxy at ${url} (calls: ${gateway}; files: ${repository})`,
  ],
  [
    { mode: "proxy", url, trustKey, node: "http://node:1", repository, console: false },
    {},
    { mode: "proxy", url, node: "http://node:1", repository },
    `proxy at ${url} (calls: http://node:1; files: ${repository})`,
  ],
];

describe("serverInfo", () => {
  it.each(cases)("has the fields of $0.mode and no secret", (config, facts, info, line) => {
    const actual = serverInfo(config, url, facts);
    expect(actual).toEqual(info);
    expect(JSON.stringify(actual)).not.toContain(trustKey);
    expect(startedLine(actual)).toBe(line);
  });
});
