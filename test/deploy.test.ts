// examples/deploy: its configurations run, and its numbers fit what services promise.

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

import { afterEach, describe, expect, it, vi } from "vitest";
import { parse, parseAllDocuments } from "yaml";

import { readConfig } from "../server/config/config.ts";
import { systemNames } from "../server/host/names.ts";
import type { Server } from "../server/start/server.ts";
import { defaultDrainMs, paths } from "../src/base/protocol.ts";
import { root } from "./_sources.ts";
import { anyPort, applicationOf, start } from "./spec/_started.ts";

const folder = join(root, "examples/deploy");
const text = (name: string): string => readFileSync(join(folder, name), "utf8");
const roles = ["gateway", "node", "proxy", "repository"];
const env = { SHOP_TRUST_KEY: "the-key-of-the-deployed-shop", HOSTNAME: "node-7f" };
const variables = new Map(Object.entries(env));
/** After this a stopping service is sure to have ended. */
const stopSeconds = defaultDrainMs / 1_000 + 5;

interface Probe {
  readonly httpGet: { readonly path: string; readonly port: string };
}
interface Resource {
  readonly kind: string;
  readonly metadata: { readonly name: string };
  readonly spec: {
    readonly replicas?: number;
    readonly minReadySeconds?: number;
    readonly clusterIP?: string;
    readonly strategy?: { readonly rollingUpdate: object };
    readonly selector?: { readonly matchLabels: { readonly app: string } };
    readonly template?: { readonly spec: PodSpec };
  };
}
interface PodSpec {
  readonly terminationGracePeriodSeconds: number;
  readonly containers: readonly {
    readonly args?: readonly string[];
    readonly livenessProbe: Probe;
    readonly readinessProbe: Probe;
    readonly startupProbe: Probe;
    readonly lifecycle: { readonly preStop: { readonly exec: { readonly command: string[] } } };
  }[];
}
const resources = (name: string): Resource[] =>
  parseAllDocuments(text(`kubernetes/${name}.yaml`)).map((part) => part.toJS() as Resource);

afterEach(() => void vi.restoreAllMocks());

describe("examples/deploy", () => {
  it("has a configuration for each role that is valid, with the variables that its manifests set", async () => {
    expect(readdirSync(join(folder, "config"))).toEqual(roles.map((role) => `${role}.json`));
    for (const role of roles)
      expect(await readConfig(`config/${role}.json`, { root: folder, env })).toMatchObject({
        mode: role,
      });
  });

  it("runs: the proxy answers what the node computes, behind two gateways of one name", async () => {
    const application = applicationOf({
      "index.html": "<!doctype html><title>Shop</title>",
      "src/shop/stock.ts": "export async function left(): Promise<number> {\n  return 12;\n}\n",
      "warehouse.segment.json": '{ "./shop/stock": { "left": { "access": "public" } } }',
    });
    await application.build();
    const places = { repository: "", gateway: "" };
    const run = async (role: string, url = anyPort): Promise<Server> => {
      const config = JSON.parse(
        text(`config/${role}.json`)
          .replace(/"http:\/\/(?:0\.0\.0\.0|\$\{POD_IP:-0\.0\.0\.0\}):3000"/, `"${url}"`)
          .replace("http://gateway:3000", places.gateway)
          .replace("http://repository:3000", places.repository)
          .replaceAll(
            /\$\{(\w+)(?::-([^}]*))?\}/g,
            (_, name: string, value: string) => variables.get(name) ?? value,
          ),
      ) as object;
      return await start(application, config, { build: false });
    };
    places.repository = (await run("repository")).url;
    const gateways = [await run("gateway")];
    const { port } = new URL(gateways[0]?.url ?? "");
    places.gateway = `http://gateway:${port}`;
    // Other systems have no second address without being told.
    if (process.platform === "linux")
      gateways.push(await run("gateway", `http://127.0.0.2:${port}`));
    // As Compose's name and the headless service's resolve to all gateways.
    const addresses = gateways.map(({ url }) => new URL(url).hostname);
    vi.spyOn(systemNames, "resolve").mockImplementation(async (host) =>
      host === "gateway" ? addresses : [host],
    );
    if (gateways.length === 1) places.gateway = gateways[0]?.url ?? "";
    await run("node");
    const proxy = await run("proxy");
    for (const { info } of gateways)
      expect(info).toMatchObject({ members: [expect.stringContaining("http://")] });
    const answer = await fetch(`${proxy.url}/rpc/shop/left`);
    expect([answer.status, await answer.text(), answer.headers.get("x-svc-node")]).toEqual([
      200,
      "12",
      "node-7f",
    ]);
  });

  it("starts the program itself, which SIGTERM reaches, and gives it the time to stop", () => {
    const dockerfile = text("Dockerfile");
    expect(/^ENTRYPOINT (.*)$/m.exec(dockerfile)?.[1]).toBe(
      '["node", "node_modules/seamline/dist/cli.js", "start", "--no-build", "--config"]',
    );
    const compose = parse(text("compose.yaml"), { merge: true }) as {
      services: Record<
        string,
        { stop_grace_period: string; command: string[]; deploy?: { replicas: number } }
      >;
    };
    expect(compose.services["gateway"]?.deploy?.replicas).toBe(2);
    expect(Object.keys(compose.services).toSorted()).toEqual(roles);
    for (const [role, service] of Object.entries(compose.services)) {
      expect(parseInt(service.stop_grace_period, 10)).toBeGreaterThan(stopSeconds);
      expect(service.command).toEqual([`config/${role}.json`]);
    }
    const [{ spec }] = resources("role") as [Resource];
    const [container] = spec.template!.spec.containers;
    const [, preStop] = container!.lifecycle.preStop.exec.command;
    expect(spec.template!.spec.terminationGracePeriodSeconds).toBeGreaterThan(
      Number(preStop) + stopSeconds,
    );
  });

  it("asks probes what a service answers, and takes no more than one away at a time", () => {
    const [{ spec }] = resources("role") as [Resource];
    const [container] = spec.template!.spec.containers;
    expect(container?.livenessProbe.httpGet.path).toBe(paths.healthLive);
    expect(container?.startupProbe.httpGet.path).toBe(paths.healthLive);
    expect(container?.readinessProbe.httpGet.path).toBe(paths.healthReady);
    expect(spec.strategy?.rollingUpdate).toEqual({ maxUnavailable: 0, maxSurge: 1 });
    const { resources: listed } = parse(text("kubernetes/kustomization.yaml")) as {
      resources: string[];
    };
    expect(listed.toSorted()).toEqual(roles.map((role) => `${role}.yaml`));
    for (const role of roles) {
      const parts = resources(role);
      const deployment = parts.find(({ kind }) => kind === "Deployment");
      expect(deployment?.spec.selector?.matchLabels.app).toBe(role);
      expect(deployment?.spec.template?.spec.containers[0]?.args).toEqual([`config/${role}.json`]);
      // Nodes and proxies find another gateway within one lookup of its name and the time that DNS keeps it.
      expect(deployment?.spec.minReadySeconds).toBe(role === "gateway" ? 30 : 2);
      const service = parts.find(({ kind }) => kind === "Service");
      expect([role, service?.spec.clusterIP]).toEqual([
        role,
        role === "gateway" ? "None" : undefined,
      ]);
      const hasBudget = parts.some(({ kind }) => kind === "PodDisruptionBudget");
      expect([role, hasBudget]).toEqual([role, (deployment?.spec.replicas ?? 1) > 1]);
    }
  });
});
