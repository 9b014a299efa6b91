// Which keys a configuration of each mode has.

import { describe, expect, it, onTestFinished, vi } from "vitest";

import { defaultDrainMs, defaultHealthIntervalMs } from "../../src/base/protocol.ts";
import { fakeMember, socketDial } from "../_fake-member.ts";
import { startServer } from "../../server/start/start-server.ts";
import {
  gateway,
  ownUrl,
  modes,
  node,
  parse,
  proxy,
  repository,
  standalone,
  otherUrl,
  configProblems,
  twoSegments,
} from "./_configurations.ts";
import { anyPort, applicationOf, start } from "./_started.ts";

describe("keys of each mode", () => {
  it("configuration-14: every mode has a url, the address at which it listens", async () => {
    for (const { url: _, ...less } of modes)
      expect(configProblems(less)).toEqual([expect.stringMatching(/^url: it is missing/)]);
    const taken = await start(applicationOf({}), { mode: "gateway", url: anyPort });
    await expect(start(applicationOf({}), { mode: "gateway", url: taken.url })).rejects.toThrow(
      new URL(taken.url).port,
    );
    expect((await fetch(`${taken.url}/health/live`)).status).toBe(200);
  });

  it("configuration-15: a node has repository and segments, and gateway if it calls others", () => {
    expect(parse(node)).not.toHaveProperty("gateway");
    expect(configProblems({ mode: "node", url: ownUrl })).toEqual([
      "repository: it is missing → Give an address such as http://127.0.0.1:3000",
      "segments: it is missing → Give a list of segment names",
    ]);
  });

  it("configuration-16: a gateway has healthIntervalMs, the time between health checks: 1000", async () => {
    const trustKey = "a-trust-key-for-the-health-checks";
    const { url } = await start(applicationOf({}), {
      ...gateway,
      url: anyPort,
      trustKey,
      healthIntervalMs: 20,
    });
    const member = await fakeMember(
      { dial: socketDial(), gateway: url, trustKey },
      { procedures: ["a"] },
    );
    onTestFinished(() => member.die());
    // Sooner than by default, which takes 3 s.
    await expect.poll(() => member.asked.length, { timeout: 2_500 }).toBeGreaterThan(3);
    expect(parse(gateway)).not.toHaveProperty("healthIntervalMs");
    expect(defaultHealthIntervalMs).toBe(1000);
    expect(parse({ ...gateway, healthIntervalMs: 250 })).toMatchObject({ healthIntervalMs: 250 });
    for (const healthIntervalMs of [0, -1, 1.5, "soon", Infinity])
      expect(configProblems({ ...gateway, healthIntervalMs })).toEqual([
        expect.stringMatching(/^healthIntervalMs: expected a/),
      ]);
  });

  it("configuration-17: a gateway may have a repository, for middleware that looks at arguments", () => {
    expect(parse(gateway)).not.toHaveProperty("repository");
    expect(parse({ ...gateway, repository: otherUrl })).toMatchObject({ repository: otherUrl });
  });

  it("configuration-19: a gateway keeps its members in memory, and no key changes that", () => {
    expect(configProblems({ ...gateway, store: "nats://127.0.0.1:4222" })).toEqual([
      expect.stringMatching(/^store: unknown key/),
    ]);
  });

  it("configuration-20: a repository has source, output, index and assets, with defaults: ./src, ./dist, index.html and none", () => {
    expect(parse(repository)).toMatchObject({
      source: "/app/src",
      output: "/app/dist",
      index: "index.html",
      assets: [],
    });
    const folders = { source: "../lib", output: "/out", index: "a.html", assets: ["images/**"] };
    expect(parse({ ...repository, ...folders })).toMatchObject({ ...folders, source: "/lib" });
  });

  it("configuration-21: a repository may have browserSegments, the segments that browsers may load, and browserModules, globs of more modules for them", () => {
    expect(Object.keys(parse(repository))).not.toEqual(expect.arrayContaining(["browserSegments"]));
    const browserKeys = { browserSegments: ["ui"], browserModules: ["./tools/*"] };
    expect(parse({ ...repository, ...browserKeys })).toMatchObject(browserKeys);
    expect(configProblems({ ...repository, browserSegments: ["ui", "ui"] })).toEqual([
      "browserSegments.1: 'ui' is listed twice",
    ]);
  });

  it("configuration-22: a proxy has a repository, and a gateway or a node", () => {
    const { gateway: _, ...none } = proxy;
    expect(parse(proxy)).toMatchObject({ gateway: otherUrl, repository: otherUrl });
    expect(parse({ ...none, node: otherUrl })).toMatchObject({ node: otherUrl });
    expect(configProblems(none)).toEqual([
      expect.stringContaining("a proxy needs one of 'gateway', 'node' and 'directory'"),
    ]);
  });

  it("configuration-23: standalone has the keys of a repository, and segments: by default, all but those that only browsers load", async () => {
    const segmentsOf = async (more: object) => {
      const config = { ...standalone, url: anyPort, ...more };
      const { info } = await start(applicationOf(twoSegments), config);
      return info.mode === "standalone" ? info.segments : undefined;
    };
    expect(await segmentsOf({})).toEqual(["page.one", "shop"]);
    expect(await segmentsOf({ browserSegments: ["page.one"] })).toEqual(["shop"]);
    expect(await segmentsOf({ browserSegments: ["page.one"], segments: ["page.one"] })).toEqual([
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
      parse({ ...standalone, segments: [], browserSegments: ["a"], browserModules: ["b"] }),
    ).toMatchObject({ segments: [] });
  });

  it("a segment that the build doesn't have ends the start of a standalone, with the key and a hint (configuration-23)", async () => {
    const config = { ...standalone, url: anyPort };
    const started = (segments: readonly string[]) =>
      start(applicationOf(twoSegments), { ...config, segments });
    await expect(started(["shop", "shp"])).rejects.toThrow(
      "configuration at segments: the build has no segment 'shp'\n  → Did you mean 'shop'?",
    );
    await expect(started(["warehouse"])).rejects.toThrow(
      "the build has no segment 'warehouse'\n  → It has page.one, shop. Build again if its file is new",
    );
  });

  it("configuration-24: every mode may have a trustKey, printable ASCII without blanks, or a list of them", () => {
    for (const configuration of modes) {
      expect(parse({ ...configuration, trustKey: "a-key" })).toMatchObject({ trustKey: "a-key" });
      for (const trustKey of ["", "two words", "schlüssel", 1]) {
        const [problem] = configProblems({ ...configuration, trustKey });
        expect(problem).toMatch(/^trustKey: (it|expected a string, or a list)/);
        expect(problem).not.toContain("schlüssel");
      }
      const trustKey = ["new-key", "old-key"];
      expect(parse({ ...configuration, trustKey })).toMatchObject({ trustKey });
      for (const wrong of [[], ["a-key", ""], ["a-key", "two words"], ["a-key", 1], [["a"]]]) {
        const [problem] = configProblems({ ...configuration, trustKey: wrong });
        expect(problem).toMatch(/^trustKey: (key 2 of the list|expected a string, or a list)/);
        expect(problem).not.toContain("words");
      }
    }
  });

  it("configuration-25: node and standalone may have cache", () => {
    for (const configuration of [node, standalone])
      expect(parse({ ...configuration, cache: "c" })).toMatchObject({ cache: "/app/c" });
    expect(configProblems({ ...proxy, cache: "c" })).toEqual([
      expect.stringContaining("it belongs to node, standalone"),
    ]);
  });

  it("configuration-26: every mode may have middleware and healthChecks", () => {
    const modules = {
      middleware: ["./a.ts", "a-package", "../b.js"],
      healthChecks: { db: "./c.ts", other: "d-package" },
    };
    for (const configuration of modes)
      expect(parse({ ...configuration, ...modules })).toMatchObject({
        middleware: ["/app/a.ts", "a-package", "/b.js"],
        healthChecks: { db: "/app/c.ts", other: "d-package" },
      });
  });

  it("configuration-27: every mode may have limits: numbers from 1 up", () => {
    const limits = { bodyBytes: 10, headerBytes: 20, callTimeoutMs: 5, maxConnections: 3 };
    for (const configuration of modes)
      expect(parse({ ...configuration, limits })).toMatchObject({ limits });
    expect(configProblems({ ...gateway, limits: { bodyBytes: -1, maxDepth: null } })).toEqual([
      "limits.bodyBytes: expected a number of at least 1, found -1",
      "limits.maxDepth: expected a number, found null",
    ]);
  });

  it("configuration-28: every mode may have log: info, warn, error or none", async () => {
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
    for (const configuration of modes)
      for (const log of ["info", "warn", "error", "none"])
        expect(parse({ ...configuration, log })).toMatchObject({ log });
    expect(configProblems({ ...gateway, log: "debug" })).toEqual([
      'log: expected info, warn, error or none, found "debug"',
    ]);
  });

  it("configuration-29: every mode may have tls: paths of a certificate, its key, a passphrase and a further authority", () => {
    for (const configuration of modes) {
      const tls = { cert: "./c.pem", key: "k.pem", passphrase: "p", ca: "/ca.pem" };
      expect(parse({ ...configuration, url: "https://a.b", tls })).toMatchObject({
        tls: { cert: "/app/c.pem", key: "/app/k.pem", passphrase: "p", ca: "/ca.pem" },
      });
    }
    expect(
      configProblems({ ...gateway, url: "https://a.b", tls: { cert: "a", kye: "b" } }),
    ).toEqual([
      "tls.key: it is missing → Give the path of the certificate's private key, a PEM file",
      "tls.kye: unknown key; known: cert, key, passphrase, ca → Did you mean 'key'?",
    ]);
  });

  it("configuration-30: every mode may have drainMs, the time after which a stopping service cuts what runs: 10000", () => {
    expect(defaultDrainMs).toBe(10_000);
    for (const configuration of modes)
      expect(parse({ ...configuration, drainMs: 86_400_000 })).toMatchObject({
        drainMs: 86_400_000,
      });
    expect(parse({ ...gateway, drainMs: "${MS}" }, { MS: "250" })).toMatchObject({ drainMs: 250 });
    for (const drainMs of [0, -1, 1.5, "soon", Infinity, 86_400_001, null])
      expect(configProblems({ ...gateway, drainMs })).toEqual([
        expect.stringMatching(/^drainMs: expected a/),
      ]);
  });

  it("configuration-31: every mode may have endToEndTls: false where something between services ends TLS", () => {
    for (const configuration of modes)
      expect(parse({ ...configuration, endToEndTls: false })).toMatchObject({ endToEndTls: false });
    for (const endToEndTls of ["false", 0, null])
      expect(configProblems({ ...gateway, endToEndTls })).toEqual([
        expect.stringMatching(/^endToEndTls: expected true or false/),
      ]);
  });

  it.each([
    "headerTimeoutMs",
    "requestTimeoutMs",
    "idleTimeoutMs",
    "streamIdleMs",
    "keepAliveTimeoutMs",
    "callTimeoutMs",
  ])(
    "a time is a day at most, as timers with more than 24 days end at once: limits.%s (configuration-9)",
    (name) => {
      expect(configProblems({ ...gateway, limits: { [name]: 1e12 } })).toEqual([
        `limits.${name}: expected a number of at most 86400000, which is a day, found 1000000000000`,
      ]);
    },
  );

  it("a key in the wrong place is told where it belongs (configuration-9)", () => {
    expect(
      configProblems({ ...gateway, maxCalls: 5, timeoutMs: 5, limits: { drainMs: 5 } }),
    ).toEqual([
      "maxCalls: unknown key → Set it in 'limits': { \"maxCalls\": … }",
      "timeoutMs: unknown key → It belongs to a procedure, in a segment file.",
      "limits.drainMs: not a limit, but a key beside 'limits'",
    ]);
  });
});
