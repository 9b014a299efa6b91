import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

import { describe, expect, it } from "vitest";

import { ask } from "../_cluster.ts";
import { services } from "./_services.ts";
import { anyPort, applicationOf, start } from "./_started.ts";
import { packageFolder } from "../../server/base/package-folder.ts";
import { runtimeFolder, runtimeHash } from "../../server/base/runtime-files.ts";

const files = {
  "src/greet.ts": "export async function greet(name: string) { return name; }\n",
  "src/robots.txt": "User-agent: *",
  "greet.segment.json": '{ "./greet": { "greet": { "access": "public" } } }',
};

/** A repository behind a proxy, which browsers fetch from. */
async function repositoryAndProxy() {
  const application = applicationOf(files);
  const repository = await start(application, {
    mode: "repository",
    url: anyPort,
    assets: ["**/*"],
  });
  const proxy = await start(application, {
    mode: "proxy",
    url: anyPort,
    repository: repository.url,
    gateway: "http://127.0.0.1:9",
  });
  return { application, repository: repository.url, proxy: proxy.url };
}
const packagedFile = (name: string): string =>
  readFileSync(join(packageFolder, "dist/svc", name), "utf8");

describe("addresses", () => {
  it("endpoints-1: a node, and its gateway, answer calls and health requests at their address", async () => {
    const { node, gateway, repository } = await services();
    for (const base of [node, gateway]) {
      expect((await ask(base, "GET", "/rpc/app/echo?value=a")).text).toBe("a");
      expect((await ask(base, "GET", "/health/status")).text).toBe("true");
    }
    expect((await ask(repository, "GET", "/rpc/app/echo?value=a")).status).toBe(404);
  });

  it("endpoints-2: the repository serves files and service components at its address", async () => {
    const { application, repository } = await repositoryAndProxy();
    const gateway = await start(application, { mode: "gateway", url: anyPort });
    const node = await start(application, {
      mode: "node",
      url: anyPort,
      repository,
      segments: ["greet"],
    });
    for (const path of ["/robots.txt", "/svc/client.js"]) {
      expect((await fetch(repository + path)).status, path).toBe(200);
      expect((await fetch(node.url + path)).status, path).toBe(404);
      // A node that joins may still have a route there.
      const isOwn = path.startsWith("/svc/");
      expect((await fetch(gateway.url + path)).status, path).toBe(isOwn ? 404 : 503);
    }
  });
});

describe("GET {repository_url}/svc/{file}", () => {
  it("endpoints-3: GET /svc/<file> returns a service file, from the repository and through a proxy", async () => {
    const { repository, proxy } = await repositoryAndProxy();
    for (const base of [repository, proxy])
      for (const name of ["client.js", "hooks.js"]) {
        const answer = await fetch(`${base}/svc/${name}`);
        expect([
          answer.status,
          answer.headers.get("content-type"),
          answer.headers.get("x-content-type-options"),
        ]).toEqual([200, "text/javascript; charset=utf-8", "nosniff"]);
        expect(await answer.text()).toBe(packagedFile(name));
      }
  });

  it("endpoints-4: the service files hooks.js and client.js export startClient", async () => {
    const { repository } = await repositoryAndProxy();
    expect(await (await fetch(`${repository}/svc/hooks.js`)).text()).toMatch(
      /export\s*\{[^}]*startClient[^}]*\}\s*from\s*"\.\/[0-9a-f]{16}\/client\.js"/,
    );
    expect(await (await fetch(`${repository}/svc/client.js`)).text()).toMatch(
      /export\s*\{[^}]*\bstartClient\b/,
    );
  });

  it("endpoints-5: every other service file is fetched in the same way, and a standalone answers as a repository does", async () => {
    const { application, repository } = await repositoryAndProxy();
    const standalone = await start(application, { mode: "standalone", url: anyPort });
    for (const base of [repository, standalone.url]) {
      for (const name of readdirSync(join(packageFolder, "dist/svc")).filter((file) =>
        file.endsWith(".js"),
      ))
        expect(await (await fetch(`${base}/svc/${name}`)).text(), name).toBe(packagedFile(name));
      const manifest = await fetch(`${base}/svc/manifest.json`);
      expect([manifest.status, manifest.headers.get("content-type")]).toEqual([
        200,
        "application/json; charset=utf-8",
      ]);
      expect(await manifest.json()).toMatchObject({ format: 1, segments: {} });
    }
  });

  it("service files export what those below the hash of their content do, and have an ETag, by which they are revalidated (endpoints-3)", async () => {
    const { repository } = await repositoryAndProxy();
    const url = `${repository}/svc/client.js`;
    const first = await fetch(url);
    expect(first.headers.get("cache-control")).toBe("no-cache");
    const named = readdirSync(runtimeFolder());
    expect(named).toContain("client.js");
    for (const name of named)
      expect(Object.keys(await import(join(packageFolder, "dist/svc", name))), name).toEqual(
        Object.keys(await import(join(runtimeFolder(), name))),
      );
    // Without cache headers, `fetch` requests the whole file.
    const tag = first.headers.get("etag") ?? "";
    const again = await fetch(url, {
      headers: { "if-none-match": tag, "cache-control": "max-age=0" },
    });
    expect([again.status, await again.text()]).toEqual([304, ""]);
    expect((await fetch(url, { method: "HEAD" })).status).toBe(200);
    const posted = await fetch(url, { method: "POST" });
    expect([posted.status, posted.headers.get("allow")]).toEqual([405, "GET, HEAD"]);
  });

  it("endpoints-6: service files below the hash of their content are compressed, and kept for good, from the repository, through a proxy and from a standalone", async () => {
    const { application, repository, proxy } = await repositoryAndProxy();
    const standalone = await start(application, { mode: "standalone", url: anyPort });
    for (const base of [repository, proxy, standalone.url])
      for (const name of readdirSync(runtimeFolder())) {
        const answer = await fetch(`${base}/svc/${runtimeHash()}/${name}`, {
          headers: { "accept-encoding": "br" },
        });
        expect([answer.status, Object.fromEntries(answer.headers)], base + name).toMatchObject([
          200,
          {
            "cache-control": "public, max-age=31536000, immutable",
            "content-type": "text/javascript; charset=utf-8",
            vary: "accept-encoding",
            ...(name === "client.js" && { "content-encoding": "br" }),
          },
        ]);
        expect(await answer.text()).toBe(readFileSync(join(runtimeFolder(), name), "utf8"));
      }
  });

  it("endpoints-7: a service file below the hash of another release is the current one, which no cache may keep there", async () => {
    const { repository, proxy } = await repositoryAndProxy();
    for (const base of [repository, proxy]) {
      const answer = await fetch(`${base}/svc/0123456789abcdef/codec.js`);
      expect([answer.status, answer.headers.get("cache-control")]).toEqual([200, "no-store"]);
      expect(await answer.text()).toBe(readFileSync(join(runtimeFolder(), "codec.js"), "utf8"));
      for (const path of [
        "0123456789abcdef/none.js",
        "0123456789abcdef/manifest.json",
        "0123456789abcdef/0123456789abcdef/codec.js",
        `0123456789abcdef/${runtimeHash()}/codec.js`,
        "0123456789abcdef/",
        "0123456789abcdef",
        "0123456789abcde/codec.js",
        "console/codec.js",
        `${runtimeHash()}/`,
        `${runtimeHash()}/none.js`,
        `${runtimeHash()}/..%2fcodec.js`,
      ])
        expect((await fetch(`${base}/svc/${path}`)).status, path).toBe(404);
    }
  });

  it("everything else below /svc is 404 at every role: other files of the package, and the build for callers without the key (endpoints-5)", async () => {
    const { application, repository, proxy } = await repositoryAndProxy();
    const gateway = await start(application, { mode: "gateway", url: anyPort });
    const standalone = await start(application, { mode: "standalone", url: anyPort });
    const key = readFileSync(join(application.root, ".seamline/key"), "utf8").trim();
    const nothing = await (await fetch(`${repository}/nothing`)).text();
    for (const path of [
      "/svc/none.js",
      "/svc/",
      "/svc/__proto__",
      "/svc/..%2f..%2fpackage.json",
      "/svc/client.js%00",
      "/svc/modules/manifest.json",
      "/svc/modules/greet.js",
      "/svc/modules/..%2fmanifest.json",
    ])
      for (const base of [repository, proxy, standalone.url, gateway.url]) {
        const answer = await fetch(base + path, {
          headers: { "x-svc-trust-key": path.includes("modules") ? `${key}x` : key },
        });
        expect([answer.status, await answer.text()], base + path).toEqual([404, nothing]);
      }
    for (const path of ["/svc/client.js", "/svc/manifest.json"])
      expect((await fetch(gateway.url + path)).status).toBe(404);
    // With the key, a repository serves what nodes load. A proxy never does.
    const trusted = { headers: { "x-svc-trust-key": key } };
    expect((await fetch(`${repository}/svc/modules/manifest.json`, trusted)).status).toBe(200);
    expect((await fetch(`${proxy}/svc/modules/manifest.json`, trusted)).status).toBe(404);
    expect(
      (await fetch(`${repository}/svc/modules/..%2fmanifest.browser.json`, trusted)).status,
    ).toBe(404);
  });

  it("a proxy answers 503 with retry-after while its repository is unavailable (endpoints-3)", async () => {
    const proxy = await start(applicationOf({}), {
      mode: "proxy",
      url: anyPort,
      repository: "http://127.0.0.1:9",
      gateway: "http://127.0.0.1:9",
    });
    const answer = await fetch(`${proxy.url}/svc/client.js`);
    expect([answer.status, answer.headers.get("retry-after"), await answer.text()]).toEqual([
      503,
      "1",
      "The repository can't be reached",
    ]);
  });
});
