// `Server.info` of a service in each mode, and the line that the service logs at its start.

import { describe, expect, it } from "vitest";
import type { Config } from "../../../server/config/config-types.ts";
import { serverInfo, startedLine } from "../../../server/start/server-info.ts";

const url = "http://127.0.0.1:3000";
const repository = "http://repository:3001";
const gateway = "http://gateway:3002";
const trustKey = "not to be told";
const files = {
  source: "/a/src",
  output: "/a/dist",
  index: "index.html",
  revisions: 1,
  assets: [],
  trustKey,
};
const loaded = { segments: ["orders", "stock"], procedures: 3 };
const feed = { name: "site/feed", method: "GET", path: "/feed.xml" };

const overHttp = { to: "http://node:1", kind: "http", because: "'link' is \"never\"" } as const;

const cases: readonly [Config, Parameters<typeof serverInfo>[2], object, string][] = [
  [
    { mode: "standalone", url: "http://127.0.0.1:0", ...files, name: "here", console: false },
    { ...loaded, routes: [feed] },
    { mode: "standalone", url, name: "here", ...loaded, routes: 1 },
    `standalone at ${url} (segments: orders, stock; procedures: 3; routes: 1)`,
  ],
  [
    { mode: "node", url, trustKey, gateway, repository, segments: ["orders", "stock"] },
    { ...loaded, ways: [{ to: gateway, kind: "link" }] },
    {
      mode: "node",
      url,
      gateway,
      ways: [{ to: gateway, kind: "link" }],
      repository,
      ...loaded,
      routes: 0,
    },
    `node at ${url} (segments: orders, stock; procedures: 3; gateway: ${gateway} over a link)`,
  ],
  [
    { mode: "node", url, gateway: [gateway, "http://b"], repository, segments: ["orders"] },
    {
      ...loaded,
      ways: [
        { to: gateway, kind: "link" },
        { ...overHttp, to: "http://b" },
      ],
    },
    {
      mode: "node",
      url,
      gateway: [gateway, "http://b"],
      ways: [
        { to: gateway, kind: "link" },
        { ...overHttp, to: "http://b" },
      ],
      repository,
      ...loaded,
      routes: 0,
    },
    `node at ${url} (segments: orders, stock; procedures: 3; gateways: ${gateway} over a link, http://b over HTTP, because 'link' is "never")`,
  ],
  [
    { mode: "node", url, trustKey, repository, segments: ["orders"] },
    loaded,
    { mode: "node", url, ways: [], repository, ...loaded, routes: 0 },
    `node at ${url} (segments: orders, stock; procedures: 3)`,
  ],
  [
    { mode: "gateway", url, trustKey, healthIntervalMs: 5_000, console: true },
    { members: [] },
    { mode: "gateway", url, members: [], linked: [] },
    `gateway at ${url} (members: none)`,
  ],
  [
    { mode: "gateway", url, trustKey, healthIntervalMs: 5_000, console: true },
    { members: ["http://a", "http://b"], linked: ["http://b"] },
    { mode: "gateway", url, members: ["http://a", "http://b"], linked: ["http://b"] },
    `gateway at ${url} (members: http://a over HTTP, http://b over a link)`,
  ],
  [{ mode: "repository", url, ...files }, {}, { mode: "repository", url }, `repository at ${url}`],
  [
    { mode: "proxy", url, trustKey, gateway, repository, console: false },
    { ways: [{ to: gateway, kind: "none", because: "it is away" }] },
    {
      mode: "proxy",
      url,
      gateway,
      ways: [{ to: gateway, kind: "none", because: "it is away" }],
      repository,
    },
    `proxy at ${url} (calls: ${gateway}, no way yet: it is away; files: ${repository})`,
  ],
  [
    { mode: "proxy", url, trustKey, node: "http://node:1", repository, console: false },
    { ways: [overHttp] },
    { mode: "proxy", url, node: "http://node:1", ways: [overHttp], repository },
    `proxy at ${url} (calls: http://node:1 over HTTP, because 'link' is "never"; files: ${repository})`,
  ],
];

describe("serverInfo", () => {
  it.each(cases)("has the fields of a service and no secret: %j", (config, facts, info, line) => {
    const actual = serverInfo(config, url, facts);
    expect(actual).toEqual(info);
    expect(JSON.stringify(actual)).not.toContain(trustKey);
    expect(startedLine(actual)).toBe(line);
  });
});
