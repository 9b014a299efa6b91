// The moment between a gateway's "you belong here" and the node's hearing of it: calls come in it already.

import { describe, expect, it, onTestFinished } from "vitest";

import { nodeHost } from "../../../server/http/host.ts";
import { listen } from "../../../server/http/http.ts";
import { createGateway } from "../../../src/roles/gateway.ts";
import type { Role } from "../../../src/roles/pipeline/role.ts";
import { defaultLimits } from "../../../src/base/limits.ts";
import { ask, settle, TestLog } from "../../_cluster.ts";
import { deploy, urls } from "../../_deployment.ts";
import { linkHost, takingLinks } from "../../_linking.ts";
import { anyPort, applicationOf, start } from "../../spec/_started.ts";

const stock = "/rpc/shop/stock?sku=1";

describe("a call that arrives while the node is joining", () => {
  it("is answered once the node has joined", async () => {
    const { gateway, network, node } = await deploy();
    const second = node(["b"], "second");
    network.roles.set("http://second", second);
    let call: ReturnType<typeof ask> | undefined;
    network.roles.set(urls.gateway, {
      ...gateway,
      async handle(request) {
        const answer = await gateway.handle(request);
        if (request.method !== "POST") return answer;
        // Node b has its turn first.
        await ask(gateway, "GET", stock);
        call = ask(gateway, "GET", stock);
        await settle();
        return answer;
      },
    });
    await second.start("http://second");
    expect(await call).toMatchObject({ status: 200, headers: { "x-svc-node": "second" } });
  });

  it("runs through middleware that a main file adds right after the start", async () => {
    const trustKey = "the-trust-key-of-this-test";
    const application = applicationOf({
      "src/greet.ts": "export async function greet() { return 'open'; }\n",
      "greet.segment.json": '{ "./greet": { "greet": { "access": "public" } } }',
    });
    const common = { url: anyPort, trustKey };
    const repository = await start(application, { mode: "repository", ...common });
    let call: Promise<string> | undefined;
    /** Calls the node before it hears that it has joined. */
    const around =
      (handle: Role["handle"]): Role["handle"] =>
      async (request) => {
        const answer = await handle(request);
        if (request.method !== "POST" || request.target !== "/nodes") return answer;
        const [url] = gateway.describe().members as readonly string[];
        call = fetch(`${url}/rpc/greet`).then((response) => response.text());
        await new Promise((resolve) => setTimeout(resolve, 200));
        return answer;
      };
    const links = linkHost();
    const host = nodeHost({
      log: new TestLog(),
      links: { ...links, around },
    });
    const gateway = createGateway(host, {
      trustKey,
      limits: defaultLimits,
      newId: () => "m1",
    });
    const handle = around((request) => gateway.handle(request));
    const server = await listen(handle, { host: "127.0.0.1", port: 0, ...takingLinks(gateway) });
    onTestFinished(async () => {
      await gateway.stop();
      await server.close(0);
    });
    await gateway.start(server.url);
    const service = await start(application, {
      mode: "node",
      ...common,
      gateway: server.url,
      repository: repository.url,
      segments: ["greet"],
    });
    service.addMiddleware({
      handle: async (_fqn, _version, _args, _headers, next) =>
        `${String(await next())}, after a look`,
    });
    expect(await call).toBe("open, after a look");
    expect(gateway.describe().members).toHaveLength(1);
  });
});
