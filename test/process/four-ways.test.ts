// Makes every call of the wire cases in memory, over a socket, and through proxy, gateway and two
// nodes in processes. e2e/wire-calls.spec.ts makes them in Chromium. All use the build of e2e/wire.

import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { copyWire, startService, startWire, type WireCluster } from "../../e2e/wire-application.ts";
import { composeRole } from "../../server/start/compose-role.ts";
import { readConfig } from "../../server/config/config.ts";
import { nodeHost } from "../../server/http/host.ts";
import { PayloadTooLarge } from "../../src/base/errors.ts";
import { emptyContext } from "../../src/base/context.ts";
import type { ModuleNamespace, Peer } from "../../src/base/ports.ts";
import { defaultLimits } from "../../src/base/limits.ts";
import { parseVersion } from "../../src/base/version.ts";
import { createRemote } from "../../src/wire/outgoing/remote-call.ts";
import { type HttpAnswer, type HttpCall, key } from "../_call.ts";
import { ask, TestLog } from "../_cluster.ts";
import { httpPeer } from "../_http-peer.ts";
import { incoming } from "../_endpoint.ts";
import {
  allCases,
  bodyOf,
  comparable,
  differenceOf,
  runsIn,
  type Environment,
} from "../_all-calls.ts";
import { createWireClasses } from "../_wire-classes.ts";
import { type Application, createApplication } from "./_application.ts";
import { chunksOf } from "../../src/http/bodies.ts";

interface Target {
  readonly send: (call: HttpCall) => Promise<HttpAnswer>;
  readonly peer: Peer;
  readonly base: string;
}

let application: Application;
let cluster: WireCluster;
const targets = new Map<Environment, Target>();
const host = nodeHost({ log: new TestLog() });
const closing: (() => Promise<unknown> | undefined)[] = [() => application?.remove()];

beforeAll(async () => {
  application = await copyWire();
  cluster = await startWire(application);
  targets.set("in memory", await inMemory(application.root));
  targets.set("over a socket", overSockets(cluster.standalone));
  targets.set("proxy, gateway, two nodes", overSockets(cluster.proxy));
}, 120_000);
afterAll(async () => {
  for (const close of closing.toReversed()) await close();
});

/** Calls the composed role of a standalone without a socket. */
async function inMemory(root: string): Promise<Target> {
  const config = await readConfig(
    { mode: "standalone", url: "http://127.0.0.1:0", trustKey: key },
    { root },
  );
  const { role, modules } = await composeRole(nodeHost({ log: new TestLog() }), config, {
    root,
    limits: defaultLimits,
    trustKey: key,
    moduleImporter: async (specifier) =>
      (await import(/* @vite-ignore */ specifier)) as ModuleNamespace,
    build: false,
    newId: () => "m1",
    configFile: undefined,
  });
  await role.start("http://memory");
  closing.push(async () => {
    await role.stop();
    await modules?.close();
  });
  const send = async (call: HttpCall): Promise<HttpAnswer> => {
    const bytes = bodyOf(call).body ?? new Uint8Array();
    const response = await role.handle({
      method: call.method ?? "GET",
      target: call.path,
      scheme: "http",
      headers: call.headers ?? {},
      signal: new AbortController().signal,
      // The HTTP adapter enforces this limit.
      body: chunksOf(bytes),
      readBody: async (limit) => {
        if (bytes.length > limit)
          throw new PayloadTooLarge(`The request's body is over the limit of ${limit} bytes`);
        return bytes;
      },
    });
    const { status, headers, text } = incoming(response);
    // The HTTP adapter drops the body of an answer to HEAD.
    return {
      status,
      headers: headers as HttpAnswer["headers"],
      body: call.method === "HEAD" ? "" : text,
    };
  };
  const peer: Peer = {
    send: async ({ url, method, headers, body, signal }) =>
      await ask(role, method, url.slice("http://memory".length), headers, body ?? "", signal),
  };
  return { send, peer, base: "http://memory" };
}

function overSockets(base: string): Target {
  const send = async (call: HttpCall): Promise<HttpAnswer> => {
    const response = await fetch(base + call.path, {
      method: call.method ?? "GET",
      headers: call.headers ?? {},
      ...bodyOf(call),
    });
    return {
      status: response.status,
      headers: Object.fromEntries(response.headers),
      body: textOf(await response.arrayBuffer()),
    };
  };
  return { send, peer: httpPeer(), base };
}

const textOf = (bytes: ArrayBuffer): string =>
  new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes);

describe.each(["in memory", "over a socket", "proxy, gateway, two nodes"] as const)(
  "%s:",
  (name) => {
    const cases = allCases.filter((wireCase) => runsIn(wireCase, name) > 0);

    it.each(cases.filter(({ http }) => http))("$ids $title", async ({ http, answer }) => {
      expect(comparable(await targets.get(name)!.send(http!))).toEqual(comparable(answer!));
    });

    it.each(cases.filter(({ client }) => client))(
      "$ids $title, called by a client",
      async ({ client }) => {
        const { peer, base } = targets.get(name)!;
        const { call } = createRemote({
          transport: peer,
          base,
          classes: createWireClasses(),
          limits: defaultLimits,
          clock: host.clock,
        });
        const { fqn, version = "", args = {} } = client!;
        // As `runProcedure` does.
        const run = async (): Promise<unknown> =>
          (
            await call({
              fqn,
              version: String(parseVersion(version)),
              args: new Map(Object.entries(args)),
              context: emptyContext(),
            })
          ).value;
        expect(await differenceOf(client!, run)).toBeUndefined();
      },
    );
  },
);

describe("a repository with other services", () => {
  const trusted = { "x-svc-trust-key": key };
  const text = async (path: string, headers: Readonly<Record<string, string>> = {}) => {
    const response = await fetch(cluster.repository + path, { headers });
    return { status: response.status, text: await response.text() };
  };

  it("overview-13: a repository serves the components of the service itself", async () => {
    for (const name of ["client.js", "hooks.js", "remote.js"])
      expect(await text(`/svc/${name}`), name).toMatchObject({
        status: 200,
        text: expect.stringContaining("export"),
      });
  });

  it("overview-14: nodes import their components from the repository: one in an empty folder runs its segments", async () => {
    const empty = await createApplication();
    closing.push(() => empty.remove());
    const config = {
      mode: "node",
      url: "http://127.0.0.1:0",
      repository: cluster.repository,
      segments: ["calls"],
      trustKey: key,
    };
    const { url } = await startService(empty, "node", config);
    const answer = await fetch(`${url}/rpc/calls/plain?first=a&second=b`);
    expect(await answer.text()).toBe('["a","b"]');
  });

  it("overview-17: the repository provides what is in no segment", async () => {
    const manifest = JSON.parse((await text("/svc/modules/manifest.json", trusted)).text) as {
      modules: Record<string, { file: string }>;
    };
    const file = manifest.modules["calls/tax"]?.file;
    expect(await text(`/svc/modules/${file}`, trusted)).toMatchObject({
      status: 200,
      text: expect.stringContaining("tax 0.2"),
    });
  });
});
