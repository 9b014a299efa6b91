import { describe, expect, it } from "vitest";
import { parseConfig } from "../../server/config.ts";
import { Problems } from "../../src/problem.ts";

const parse = (value: unknown) => parseConfig(value, "seamline.json", { root: "/app", env: {} });

describe("§2.4 node configuration", () => {
  it("holds mode, url, gateway, repository and segments", () => {
    const config = {
      mode: "node",
      url: "http://127.0.0.1:4000",
      gateway: "http://127.0.0.1:3000",
      repository: "http://127.0.0.1:2000",
      segments: ["shop", "stock"],
    };
    expect(parse(config)).toEqual(config);
  });

  it("may leave out the gateway, and nothing else", () => {
    expect(parse({ mode: "node", url: "http://127.0.0.1:1", repository: "http://127.0.0.1:2", segments: ["a"] })).not.toHaveProperty(
      "gateway",
    );
    expect(() => parse({ mode: "node" })).toThrow(Problems);
  });

  it("may name the editor's schema", () => {
    expect(parse({ $schema: "./node.json", mode: "gateway", url: "http://127.0.0.1:1" })).not.toHaveProperty("$schema");
  });
});

describe("§2.4 configuration of the other services (decisions §5)", () => {
  it("gateway: monitor is 5000 ms and the members are kept in memory unless said otherwise", () => {
    expect(parse({ mode: "gateway", url: "http://127.0.0.1:1" })).toMatchObject({ monitor: 5000, directory: "memory" });
  });

  it("repository: source, output, index and assets have defaults", () => {
    expect(parse({ mode: "repository", url: "http://127.0.0.1:1" })).toMatchObject({
      source: "/app/src",
      output: "/app/dist",
      index: "index.html",
      assets: [],
    });
  });

  it("standalone: as a repository, and segments", () => {
    expect(parse({ mode: "standalone", url: "http://127.0.0.1:1", segments: ["a"] })).toMatchObject({
      segments: ["a"],
      index: "index.html",
    });
    expect(parse({ mode: "standalone", url: "http://127.0.0.1:1" })).not.toHaveProperty("segments");
  });

  it("proxy: a repository, and one of gateway and node", () => {
    const proxy = { mode: "proxy", url: "http://127.0.0.1:1", repository: "http://127.0.0.1:2" };
    expect(parse({ ...proxy, gateway: "http://127.0.0.1:3" })).toMatchObject({ gateway: "http://127.0.0.1:3" });
    expect(parse({ ...proxy, node: "http://127.0.0.1:3" })).toMatchObject({ node: "http://127.0.0.1:3" });
    expect(() => parse(proxy)).toThrow("one of 'gateway' and 'node'");
    expect(() => parse({ ...proxy, gateway: "http://127.0.0.1:3", node: "http://127.0.0.1:4" })).toThrow("not both");
  });

  it("refuses a mode that there isn't, with the nearest one", () => {
    expect(() => parse({ mode: "gatway", url: "http://127.0.0.1:1" })).toThrow(/seamline\.json at mode: .*'|Did you mean 'gateway'\?/);
    expect(() => parse({ url: "http://127.0.0.1:1" })).toThrow("node, gateway, repository, proxy, standalone");
  });
});
