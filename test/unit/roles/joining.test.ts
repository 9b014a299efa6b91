// The moment between a gateway's "you belong here" and the node's hearing of it: calls come in it already.

import { describe, expect, it, onTestFinished } from "vitest";

import { listen } from "../../../server/http/http.ts";
import { createNode } from "../../../src/roles/node.ts";
import { defaultLimits } from "../../../src/codec/values/limits.ts";
import { ask, settle, testHost, testModules, TestNetwork } from "../../_cluster.ts";
import { deploy, urls } from "../../_deployment.ts";
import { anyPort, applicationOf, start } from "../../spec/_started.ts";
import { money, outOfStock, shop } from "../../spec/_shop.ts";

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

  it("answers 503 if the gateway then refuses the node", async () => {
    const network = new TestNetwork();
    const node = createNode(testHost(network), {
      trustKey: "another",
      limits: defaultLimits,
      gateway: urls.gateway,
      modules: testModules(shop, [outOfStock, money]),
      segments: ["b"],
      name: undefined,
    });
    let call: ReturnType<typeof ask> | undefined;
    network.roles.set(urls.gateway, {
      ...node,
      async handle() {
        call = ask(node, "GET", stock);
        await settle();
        return { status: 401, headers: {} };
      },
    });
    await expect(node.start("http://c")).rejects.toThrow("refuses this node's trust key");
    expect(await call).toMatchObject({ status: 503, text: "This service is starting" });
  });

  it("runs through middleware that a main file adds right after the start", async () => {
    const application = applicationOf({
      "src/greet.ts": "export async function greet() { return 'open'; }\n",
      "greet.segment.json": '{ "./greet": { "greet": { "access": "public" } } }',
    });
    const repository = await start(application, {
      mode: "repository",
      url: anyPort,
      trustKey: "the-trust-key-of-this-test",
    });
    let call: Promise<string> | undefined;
    const gateway = await listen(
      async (request) => {
        if (request.method !== "POST") return { status: 204, headers: {} };
        const { url } = JSON.parse(new TextDecoder().decode(await request.readBody(100_000))) as {
          url: string;
        };
        call = fetch(`${url}/rpc/greet`).then((answer) => answer.text());
        await new Promise((resolve) => setTimeout(resolve, 200));
        return { status: 201, headers: {}, body: JSON.stringify({ id: "m1", lease: 15_000 }) };
      },
      { host: "127.0.0.1", port: 0 },
    );
    onTestFinished(() => gateway.close(0));
    const config = {
      mode: "node",
      url: anyPort,
      gateway: gateway.url,
      repository: repository.url,
      segments: ["greet"],
    };
    const server = await start(application, { ...config, trustKey: "the-trust-key-of-this-test" });
    server.addMiddleware({
      handle: async (_fqn, _version, _args, _headers, next) =>
        `${String(await next())}, after a look`,
    });
    expect(await call).toBe("open, after a look");
  });
});
