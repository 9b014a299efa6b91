// Names that every object inherits, such as `toString`, work like any other name.

import { describe, expect, it } from "vitest";

import { checkApplication } from "../../server/report/check.ts";
import { names, prototypeNames, through } from "../_prototype-names.ts";
import { anyPort, applicationOf, start } from "../spec/_started.ts";

const serialized = { "content-type": "application/json", "x-svc-data-encoding": "serialized" };
const log = { info: () => {}, warn: () => {}, error: () => {} };

describe("an application whose modules, exports, parameters, segments and classes have such names", () => {
  const made = () => applicationOf(prototypeNames);

  it("an application with names such as toString passes a check", async () => {
    const { problems, warnings, procedures } = await checkApplication({
      root: made().root,
      env: {},
      log,
    });
    expect({ problems, warnings, procedures }).toEqual({
      problems: [],
      warnings: [],
      procedures: names.length,
    });
  });

  it("names such as toString are in both manifests of a build", async () => {
    const application = made();
    const { manifest } = await application.build();
    expect(manifest.browserSegments).toEqual(["toString"]);
    expect(Object.keys(manifest.segments).sort()).toEqual([...names, "isPrototypeOf"].sort());
    expect(Object.keys(manifest.modules).sort()).toEqual([...names, "propertyIsEnumerable"].sort());
    expect(Object.keys(manifest.imports).sort()).toEqual([...names, "main"].sort());
    expect(manifest.classes.map((one) => one.key).sort()).toEqual([...names].sort());
    expect(Object.keys(application.browserManifest().segments)).toEqual(["toString"]);
  });

  it("an application with names such as toString runs in one process", async () => {
    const application = made();
    await application.build();
    const { url } = await start(application, { mode: "standalone", url: anyPort });
    for (const name of names) {
      const answer = await fetch(`${url}/rpc/${name}?toString=end&valueOf=4`);
      expect(await answer.json()).toEqual({ text: through(name, 4) });
    }
  });

  it("an application with names such as toString runs as gateway, nodes and repository", async () => {
    const application = made();
    await application.build();
    const trustKey = "a-key-of-this-test-and-no-other";
    const repository = await start(application, { mode: "repository", url: anyPort, trustKey });
    const gateway = await start(application, {
      mode: "gateway",
      url: anyPort,
      trustKey,
      repository: repository.url,
    });
    for (const name of names)
      await start(application, {
        mode: "node",
        url: anyPort,
        trustKey,
        gateway: gateway.url,
        repository: repository.url,
        segments: [name],
        cache: `cache/${name}`,
      });
    for (const name of names) {
      const made = { serialized: true, key: name, name: "class", args: { 0: "made" }, fields: {} };
      const body = JSON.stringify({ toString: made, valueOf: 0 });
      const answer = await fetch(`${gateway.url}/rpc/${name}`, {
        method: "POST",
        headers: serialized,
        body,
      });
      expect(await answer.json()).toMatchObject({
        key: name,
        args: { 0: `${name} made of a true` },
      });
    }
    for (const name of names) {
      const answer = await fetch(`${gateway.url}/rpc/${name}?toString=end&valueOf=2`);
      expect(await answer.json()).toEqual({ text: through(name, 2) });
    }
  });

  it.each(["propertyIsEnumerable", "toLocaleString", "__defineGetter__"])(
    "has no procedure, segment or module %s that nobody has put there",
    async (name) => {
      const application = made();
      await application.build();
      await expect(
        start(application, { mode: "standalone", url: anyPort, segments: [name] }),
      ).rejects.toThrow(new RegExp(`segment.*${name}`, "i"));
      const { url } = await start(application, { mode: "standalone", url: anyPort });
      expect((await fetch(`${url}/rpc/${name}`)).status).toBe(404);
      expect((await fetch(`${url}/svc/${name}.js`)).status).toBe(404);
      expect((await fetch(`${url}/${name}`)).status).toBe(404);
    },
  );
});
