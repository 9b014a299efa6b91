// A name that stands for several gateways, over TLS.

import { readFileSync } from "node:fs";
import type { IncomingMessage } from "node:http";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import type { TLSSocket } from "node:tls";
import { afterEach, expect, it, onTestFinished, vi } from "vitest";
import { createLinkHost } from "../../server/http/links/dial.ts";
import { systemNames } from "../../server/host/names.ts";
import { type Certificates, createCertificates } from "../_certificates.ts";
import { applicationOf, start } from "./_started.ts";

// Other systems have only the first one.
const hasBoth = process.platform === "linux";
const addresses = ["127.0.0.1", "127.0.0.2"];
const trustKey = "the-trust-key-of-names";
const files = {
  "src/shop/stock.ts": "export async function left() { return 12; }",
  "shop.segment.json": '{ "./shop/stock": { "left": { "access": "public" } } }',
};

afterEach(() => void vi.restoreAllMocks());

/** Gateways at both addresses and one port, with a certificate of a name that resolves to both. */
async function deployment(certificates: Certificates) {
  const resolve = vi.spyOn(systemNames, "resolve");
  resolve.mockImplementation(async (host) => (host.endsWith(".test") ? [...addresses] : [host]));
  const { ca } = certificates;
  const tls = { ...certificates.sign("gateway", { hosts: "DNS:gateway.test" }), ca };
  const common = { mode: "gateway", tls, trustKey, hosts: ["gateway.test"] } as const;
  const application = applicationOf(files);
  const [address = "", ...others] = addresses;
  const first = await start(application, { ...common, url: `https://${address}:0` });
  const { port } = new URL(first.url);
  const gateways = [first];
  for (const other of others)
    gateways.push(await start(application, { ...common, url: `https://${other}:${port}` }));
  const own = { ...certificates.sign("service"), ca };
  const url = "https://127.0.0.1:0";
  const repository = await start(application, { mode: "repository", url, tls: own, trustKey });
  const service = async (
    config: { readonly mode: "node"; readonly segments: string[] } | { readonly mode: "proxy" },
    name = "gateway.test",
  ) =>
    await start(application, {
      url,
      tls: own,
      trustKey,
      repository: repository.url,
      ...config,
      gateway: `https://${name}:${port}`,
    });
  return { gateways, service };
}

it.runIf(hasBoth)(
  "gateways-17: over TLS the certificate of each gateway behind a name is one of the name",
  async () => {
    const { gateways, service } = await deployment(createCertificates());
    const node = await service({ mode: "node", segments: ["shop"] });
    for (const { info } of gateways) expect(info).toMatchObject({ members: [node.url] });
    const proxy = await service({ mode: "proxy" });
    for (const { info } of [node, proxy])
      expect(info).toMatchObject({ ways: [expect.anything(), expect.anything()] });
    for (let calls = 0; calls < 4; calls++) expect(await node.runProcedure("shop/left")).toBe(12);
    expect(gateways.flatMap(({ lines }) => lines).join("\n")).not.toContain("certificate");
    // The certificate isn't for this name, which has the same addresses.
    const { lines } = await service({ mode: "node", segments: ["shop"] }, "other.test");
    for (const address of addresses)
      expect(lines.join("\n")).toMatch(
        new RegExp(`other.test:\\d+ \\(${address}\\).*has a certificate for another host`),
      );
    for (const { info } of gateways) expect(info).toMatchObject({ members: [node.url] });
  },
);

it("SNI and Host stay the name where a link goes to one of its addresses (gateways-17)", async () => {
  const certificates = createCertificates();
  const { cert, key } = certificates.sign("gateway", { hosts: "DNS:gateway.test" });
  const seen: unknown[] = [];
  const note = ({ socket, headers }: IncomingMessage): void => {
    const { servername, localAddress } = socket as TLSSocket & { servername: string };
    seen.push([localAddress, servername, headers.host]);
  };
  const server = createServer({ cert: readFileSync(cert), key: readFileSync(key) });
  server.on("upgrade", (request, socket) => {
    note(request);
    socket.destroy();
  });
  await new Promise<void>((done) => server.listen(0, "0.0.0.0", done));
  const authorities = [readFileSync(certificates.ca, "utf8")];
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  const dialing = { fields: () => ({}), refused() {} };
  const url = `https://gateway.test:${port}`;
  for (const address of hasBoth ? addresses : ["127.0.0.1"]) {
    await expect(createLinkHost({ authorities }).dial(url, address, dialing)).rejects.toThrow();
    const expected = [address, "gateway.test", `gateway.test:${port}`];
    expect(seen.splice(0)).toEqual([expected]);
  }
});
