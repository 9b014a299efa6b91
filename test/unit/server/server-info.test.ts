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

const away = { to: "http://node:1", isLinked: false, because: "it is away" };

const cases: readonly [Config, Parameters<typeof serverInfo>[2], object, string][] = [
  [
    { mode: "standalone", url: "http://127.0.0.1:0", ...files, name: "here", console: false },
    { ...loaded, routes: [feed] },
    { mode: "standalone", url, name: "here", ...loaded, routes: 1 },
    `standalone at ${url} (segments: orders, stock; procedures: 3; routes: 1)`,
  ],
  [
    { mode: "node", url, trustKey, gateway, repository, segments: ["orders", "stock"] },
    { ...loaded, ways: [{ to: gateway, isLinked: true }] },
    {
      mode: "node",
      url,
      gateway,
      ways: [{ to: gateway, isLinked: true }],
      repository,
      ...loaded,
      routes: 0,
    },
    `node at ${url} (segments: orders, stock; procedures: 3; gateway: ${gateway})`,
  ],
  [
    { mode: "node", url, gateway: [gateway, "http://b"], repository, segments: ["orders"] },
    {
      ...loaded,
      ways: [
        { to: gateway, isLinked: true },
        { ...away, to: "http://b" },
      ],
    },
    {
      mode: "node",
      url,
      gateway: [gateway, "http://b"],
      ways: [
        { to: gateway, isLinked: true },
        { ...away, to: "http://b" },
      ],
      repository,
      ...loaded,
      routes: 0,
    },
    `node at ${url} (segments: orders, stock; procedures: 3; gateways: ${gateway}, http://b, no link yet: it is away)`,
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
    { mode: "gateway", url, members: [] },
    `gateway at ${url} (members: none)`,
  ],
  [
    { mode: "gateway", url, trustKey, healthIntervalMs: 5_000, console: true },
    { members: ["http://a", "http://b"] },
    { mode: "gateway", url, members: ["http://a", "http://b"] },
    `gateway at ${url} (members: http://a, http://b)`,
  ],
  [{ mode: "repository", url, ...files }, {}, { mode: "repository", url }, `repository at ${url}`],
  [
    { mode: "proxy", url, trustKey, gateway, repository, console: false },
    { ways: [{ to: gateway, isLinked: false, because: "it is away" }] },
    {
      mode: "proxy",
      url,
      gateway,
      ways: [{ to: gateway, isLinked: false, because: "it is away" }],
      repository,
    },
    `proxy at ${url} (calls: ${gateway}, no link yet: it is away; files: ${repository})`,
  ],
  [
    { mode: "proxy", url, trustKey, node: "http://node:1", repository, console: false },
    { ways: [away] },
    { mode: "proxy", url, node: "http://node:1", ways: [away], repository },
    `proxy at ${url} (calls: http://node:1, no link yet: it is away; files: ${repository})`,
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
