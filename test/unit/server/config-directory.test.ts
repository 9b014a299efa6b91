import { describe, expect, it } from "vitest";

import { parseConfig } from "../../../server/config/config.ts";
import { Problems } from "../../../src/base/problem.ts";

const node = {
  mode: "node",
  url: "http://127.0.0.1:3001",
  repository: "http://127.0.0.1:3000",
  segments: ["shop"],
};
const proxy = { mode: "proxy", url: "http://127.0.0.1:3002", repository: "http://127.0.0.1:3000" };
const nats = ["nats://127.0.0.1:4222"];

function problemsOf(value: unknown): string[] {
  try {
    parseConfig(value, "seamline.json", { root: "/app", env: {} });
    return [];
  } catch (error) {
    if (!(error instanceof Problems)) throw error;
    return error.problems.map(
      ({ path, message, hint }) => `${path}: ${message}${hint === undefined ? "" : ` → ${hint}`}`,
    );
  }
}

const withDirectory = (directory: unknown, more: object = {}): string[] =>
  problemsOf({ ...node, directory, ...more });

describe("the key 'directory'", () => {
  it("takes servers, credentials, certificates and a prefix, on node, gateway and proxy", () => {
    const directory = {
      nats: ["nats://a:4222", "tls://user:pass@b.example:4222", "nats://[::1]:4222"],
      creds: "./shop.creds",
      tls: { ca: "./ca.pem", cert: "./cert.pem", key: "./key.pem" },
      prefix: "shop-1",
    };
    for (const mode of [node, proxy, { mode: "gateway", url: "http://127.0.0.1:3002" }])
      expect(problemsOf({ ...mode, directory })).toEqual([]);
    expect(problemsOf({ mode: "repository", url: "http://127.0.0.1:1", directory })).toEqual([
      expect.stringContaining("directory: mode 'repository' doesn't have this key"),
    ]);
  });

  it("has paths that are relative to the application folder, as all are", () => {
    const directory = {
      nats,
      creds: "./shop.creds",
      tls: { ca: "ca.pem", cert: "/c.pem", key: "./k" },
    };
    expect(
      parseConfig({ ...node, directory }, "seamline.json", { root: "/app", env: {} }),
    ).toMatchObject({
      directory: {
        creds: "/app/shop.creds",
        tls: { ca: "/app/ca.pem", cert: "/c.pem", key: "/app/k" },
      },
    });
  });

  it("is refused with the name of what is wrong, and the way out", () => {
    expect(withDirectory({})).toEqual([
      'directory.nats: it is missing → Give the addresses of NATS servers, such as ["nats://127.0.0.1:4222"]',
    ]);
    expect(withDirectory([])).toEqual(["directory: expected an object, found an array"]);
    expect(withDirectory({ nats, tls: [] })).toEqual([
      "directory.tls: expected an object, found an array",
    ]);
    expect(withDirectory("nats://a")).toEqual([
      'directory: expected { "nats": ["nats://127.0.0.1:4222"] }, found "nats://a"',
    ]);
    expect(withDirectory({ nats: [] })).toEqual([
      expect.stringContaining("directory.nats: expected a list with the address of at least one"),
    ]);
    expect(withDirectory({ nats, creds: "" })).toEqual([
      expect.stringContaining("directory.creds: expected a string that isn't empty"),
    ]);
    expect(withDirectory({ nats, prefix: "a.b" })).toEqual([
      expect.stringContaining("directory.prefix: expected 1 to 64 letters"),
    ]);
    expect(withDirectory({ nats, pefix: "a" })).toEqual([
      "directory.pefix: unknown key; known: nats, creds, tls, prefix → Did you mean 'prefix'?",
    ]);
    expect(withDirectory({ nats, tls: { certs: "./c.pem" } })).toEqual([
      "directory.tls.certs: unknown key; known: ca, cert, key → Did you mean 'cert'?",
    ]);
    expect(withDirectory({ nats, tls: { cert: "./c.pem" } })).toEqual([
      expect.stringContaining("directory.tls: 'cert' and 'key' belong together"),
    ]);
  });

  it("never shows what may hold a password", () => {
    for (const directory of [
      { nats: ["http://user:geheim@a:4222"] },
      { nats: ["nats://user:geheim@a:4222/path"] },
      { nats: "nats://user:geheim@a:4222" },
      { nats: [["nats://user:geheim@a:4222"]] },
    ]) {
      const problems = withDirectory(directory);
      expect(problems).toHaveLength(1);
      expect(problems.join()).toMatch(/^directory\.nats/);
      expect(problems.join()).not.toMatch(/geheim/);
    }
  });

  it("is the only way to a gateway", () => {
    expect(withDirectory({ nats }, { gateway: "http://127.0.0.1:3" })).toEqual([
      expect.stringContaining("gateway: a node finds its gateways in 'directory' or 'gateway'"),
    ]);
    expect(problemsOf({ ...proxy, directory: { nats }, gateway: "http://127.0.0.1:3" })).toEqual([
      "gateway: a proxy needs one of 'gateway', 'node' and 'directory', and no more",
    ]);
    expect(problemsOf(proxy)).toHaveLength(1);
  });
});
