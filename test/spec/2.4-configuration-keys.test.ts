// Which keys a configuration of each mode has (decisions §5).

import { describe, expect, it, onTestFinished, vi } from "vitest";

import { listen } from "../../server/http.ts";
import { startServer } from "../../server/start-server.ts";
import {
  gateway,
  here,
  modes,
  node,
  parse,
  proxy,
  repository,
  standalone,
  there,
  told,
  twoSegments,
} from "./_configurations.ts";
import { anyPort, applicationOf, start } from "./_started.ts";

describe("decisions §5: keys of each mode", () => {
  it("D5.keys-9 every mode has a url, the address at which it listens", async () => {
    for (const { url: _, ...less } of modes)
      expect(told(less)).toEqual([expect.stringMatching(/^url: it is missing/)]);
    const taken = await start(applicationOf({}), { mode: "gateway", url: anyPort });
    await expect(start(applicationOf({}), { mode: "gateway", url: taken.url })).rejects.toThrow(
      new URL(taken.url).port,
    );
    expect((await fetch(`${taken.url}/health/live`)).status).toBe(200);
  });

  it("D5.keys-10 a node has repository and segments, and gateway if it calls others", () => {
    expect(parse(node)).not.toHaveProperty("gateway");
    expect(told({ mode: "node", url: here })).toEqual([
      "repository: it is missing → Give an address such as http://127.0.0.1:3000",
      "segments: it is missing → Give a list of segment names",
    ]);
  });

  it("D5.keys-11 a gateway has monitor, the ms between health checks: 5000", async () => {
    const asked: string[] = [];
    const member = await listen(
      async ({ target }) => (asked.push(target), { status: 200, headers: {}, body: "true" }),
      {
        host: "127.0.0.1",
        port: 0,
      },
    );
    onTestFinished(() => member.close(0));
    const { url } = await start(applicationOf({}), {
      ...gateway,
      url: anyPort,
      trustKey: "a-trust-key-for-monitor",
      monitor: 20,
    });
    const body = JSON.stringify({ url: member.url, procedures: ["a"] });
    await fetch(`${url}/nodes`, {
      method: "POST",
      headers: { "x-svc-trust-key": "a-trust-key-for-monitor" },
      body,
    });
    // Within less than the default.
    await vi.waitFor(
      () => expect(asked.slice(0, 3)).toEqual(Array<string>(3).fill("/health/status")),
      { timeout: 4000 },
    );
    expect(parse(gateway)).toMatchObject({ monitor: 5000 });
    expect(parse({ ...gateway, monitor: 250 })).toMatchObject({ monitor: 250 });
    for (const monitor of [0, -1, 1.5, "soon", Infinity])
      expect(told({ ...gateway, monitor })).toEqual([
        expect.stringMatching(/^monitor: expected a/),
      ]);
  });

  it("D5.keys-12 a gateway may have a repository, for middleware that looks at arguments", () => {
    expect(parse(gateway)).not.toHaveProperty("repository");
    expect(parse({ ...gateway, repository: there })).toMatchObject({ repository: there });
  });

  it("D5.keys-14 a gateway's directory is memory, and what this version can't do is refused", () => {
    expect(parse(gateway)).toMatchObject({ directory: "memory" });
    expect(told({ ...gateway, directory: "nats://127.0.0.1:4222" })).toEqual([
      expect.stringMatching(/^directory: .*memory only: expected 'memory'/),
    ]);
  });

  it("D5.keys-15 a repository has source, output, index and assets, with defaults: ./src, ./dist, index.html and none", () => {
    expect(parse(repository)).toMatchObject({
      source: "/app/src",
      output: "/app/dist",
      index: "index.html",
      assets: [],
    });
    const given = { source: "../lib", output: "/out", index: "a.html", assets: ["images/**"] };
    expect(parse({ ...repository, ...given })).toMatchObject({ ...given, source: "/lib" });
  });

  it("D5.keys-16 a repository may have clients, the segments that browsers may load, and clientModules, globs of more modules for them", () => {
    expect(Object.keys(parse(repository))).not.toEqual(expect.arrayContaining(["clients"]));
    const given = { clients: ["ui"], clientModules: ["./tools/*"] };
    expect(parse({ ...repository, ...given })).toMatchObject(given);
    expect(told({ ...repository, clients: ["ui", "ui"] })).toEqual([
      "clients.1: 'ui' is named twice",
    ]);
  });

  it("D5.keys-17 a proxy has a repository, and a gateway or a node", () => {
    const { gateway: _, ...none } = proxy;
    expect(parse(proxy)).toMatchObject({ gateway: there, repository: there });
    expect(parse({ ...none, node: there })).toMatchObject({ node: there });
    expect(told(none)).toEqual([
      expect.stringContaining("a proxy needs one of 'gateway' and 'node'"),
    ]);
  });

  it("D5.keys-18 standalone has what a repository has, and segments: left out, all but those that only browsers load", async () => {
    const segmentsOf = async (more: object) =>
      (
        await start(applicationOf(twoSegments), { ...standalone, url: anyPort, ...more })
      ).describe()["segments"];
    expect(await segmentsOf({})).toEqual(["page.one", "shop"]);
    expect(await segmentsOf({ clients: ["page.one"] })).toEqual(["shop"]);
    expect(await segmentsOf({ clients: ["page.one"], segments: ["page.one"] })).toEqual([
      "page.one",
    ]);
    expect(parse(standalone)).toMatchObject({
      source: "/app/src",
      output: "/app/dist",
      index: "index.html",
      assets: [],
    });
    expect(parse(standalone)).not.toHaveProperty("segments");
    expect(
      parse({ ...standalone, segments: [], clients: ["a"], clientModules: ["b"] }),
    ).toMatchObject({ segments: [] });
  });

  it("D5.keys-19 every mode may have a trustKey, printable ASCII without blanks", () => {
    for (const one of modes) {
      expect(parse({ ...one, trustKey: "a-key" })).toMatchObject({ trustKey: "a-key" });
      for (const trustKey of ["", "two words", "schlüssel", 1]) {
        const [problem] = told({ ...one, trustKey });
        expect(problem).toMatch(/^trustKey: (it|expected a text$)/);
        expect(problem).not.toContain("schlüssel");
      }
    }
  });

  it("D5.keys-20 node and standalone may have cache", () => {
    for (const one of [node, standalone])
      expect(parse({ ...one, cache: "c" })).toMatchObject({ cache: "/app/c" });
    expect(told({ ...proxy, cache: "c" })).toEqual([
      expect.stringContaining("it belongs to node, standalone"),
    ]);
  });

  it("D5.keys-21 every mode may have middleware and healthChecks", () => {
    const given = {
      middleware: ["./a.ts", "a-package", "../b.js"],
      healthChecks: { db: "./c.ts", other: "d-package" },
    };
    for (const one of modes)
      expect(parse({ ...one, ...given })).toMatchObject({
        middleware: ["/app/a.ts", "a-package", "/b.js"],
        healthChecks: { db: "/app/c.ts", other: "d-package" },
      });
  });

  it("D5.keys-22 every mode may have limits: numbers from 1 up", () => {
    const limits = { body: 10, header: 20, time: 5, connections: 3 };
    for (const one of modes) expect(parse({ ...one, limits })).toMatchObject({ limits });
    expect(told({ ...gateway, limits: { body: -1, depth: null } })).toEqual([
      "limits.body: expected a number from 1 up, found -1",
      "limits.depth: expected a number, found null",
    ]);
  });

  it("D5.keys-23 every mode may have log: info, warn, error or none", async () => {
    const written = async (log: string): Promise<string> => {
      const out = vi.spyOn(process.stdout, "write").mockReturnValue(true);
      try {
        const { importer, root } = applicationOf({});
        await (
          await startServer(importer, {
            config: { ...gateway, url: anyPort, log },
            root,
            signals: false,
          })
        ).stop();
        return out.mock.calls.map(([text]) => String(text)).join("");
      } finally {
        out.mockRestore();
      }
    };
    expect(await written("info")).toMatch(/^gateway at http/m);
    for (const log of ["warn", "error", "none"])
      expect(await written(log), log).not.toContain("gateway at");
    for (const one of modes)
      for (const log of ["info", "warn", "error", "none"])
        expect(parse({ ...one, log })).toMatchObject({ log });
    expect(told({ ...gateway, log: "debug" })).toEqual([
      'log: expected info, warn, error or none, found "debug"',
    ]);
  });

  it("D5.keys-24 every mode may have tls: the paths of a certificate and its key, of a passphrase and a further authority", () => {
    for (const one of modes) {
      const tls = { cert: "./c.pem", key: "k.pem", passphrase: "p", ca: "/ca.pem" };
      expect(parse({ ...one, url: "https://a.b", tls })).toMatchObject({
        tls: { cert: "/app/c.pem", key: "/app/k.pem", passphrase: "p", ca: "/ca.pem" },
      });
    }
    expect(told({ ...gateway, url: "https://a.b", tls: { cert: "a", kye: "b" } })).toEqual([
      "tls.key: it is missing → Give the path of the certificate's private key, a PEM file",
      "tls.kye: unknown key; known: cert, key, passphrase, ca → Did you mean 'key'?",
    ]);
  });
});
