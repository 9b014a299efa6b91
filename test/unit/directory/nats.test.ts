// Operations that NATS itself can refuse, and the permissions that its users need.

import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { credsAuthenticator, nkeys } from "@nats-io/transport-node";
import { describe, expect, it, onTestFinished, vi } from "vitest";

import type { DirectoryConfig } from "../../../server/config/config-types.ts";
import { natsPackages, natsVersions } from "../../../server/directory/nats/packages.ts";
import { openDirectory } from "../../../server/directory/open-directory.ts";
import { nodeHost } from "../../../server/http/host.ts";
import type { Directory } from "../../../src/roles/directory/directory.ts";
import manifest from "../../../package.json" with { type: "json" };
import { createCertificates } from "../../_certificates.ts";
import { key, TestLog } from "../../_cluster.ts";
import { startNats } from "../../_nats.ts";

type Role = "gateway" | "node" | "proxy";
const log = new TestLog();

async function open(
  config: DirectoryConfig,
  role: Role = "gateway",
  own: TestLog = log,
): Promise<Directory> {
  const { directory } = await openDirectory({
    host: nodeHost({ log: own }),
    config,
    role,
    root: process.cwd(),
    trustKey: key,
    instance: crypto.randomUUID(),
  });
  onTestFinished(() => directory.stop());
  return directory;
}

const start = async (...words: Parameters<typeof open>): Promise<Directory> => {
  const directory = await open(...words);
  await directory.start();
  return directory;
};

const gatewaysOf = (directory: Directory): readonly string[] => {
  let found: readonly string[] = [];
  directory.watch((all) => (found = all.map(({ url }) => url)))();
  return found;
};

const soon = async (check: () => void): Promise<void> =>
  await vi.waitFor(check, { timeout: 10_000, interval: 10 });

describe("a start with a directory fails", () => {
  it("with a wrong password, which is in no message", async () => {
    const server = await startNats({
      lines: 'authorization { users = [{ user: "shop", password: "right" }] }',
    });
    const at = (password: string): string => `nats://shop:${password}@127.0.0.1:${server.port}`;
    await expect(start({ nats: [at("geheim")] })).rejects.toThrow(
      /^The directory at nats:\/\/127\.0\.0\.1:\d+ refuses this service \((?!.*geheim).*\): check 'creds', or user and password/,
    );
    await start({ nats: [at("right")] });
  });

  it("if the server's certificate is of an unknown authority, or it has no TLS", async () => {
    const certificates = createCertificates();
    const { cert, key: certificateKey } = certificates.sign("nats");
    const server = await startNats({
      lines: `tls { cert_file: "${cert}", key_file: "${certificateKey}" }`,
    });
    const secure = [server.url.replace("nats:", "tls:")];
    await expect(start({ nats: secure })).rejects.toThrow(
      /The certificate of the directory at tls:.* isn't accepted .*: name its authority in 'directory\.tls\.ca'/,
    );
    await start({ nats: secure, tls: { ca: certificates.ca } });
    const plain = await startNats();
    await expect(start({ nats: [plain.url], tls: {} })).rejects.toThrow(/has no TLS, which/);
  });

  it("if a file can't be read, or isn't one of credentials", async () => {
    const nats = ["nats://127.0.0.1:1"];
    await expect(open({ nats, creds: "./no.creds" })).rejects.toMatchObject({
      problems: [{ path: "directory.creds", file: "./no.creds", message: "there is no such file" }],
    });
    await expect(open({ nats, creds: "./package.json" })).rejects.toMatchObject({
      problems: [{ path: "directory.creds", message: expect.stringMatching(/^this isn't/) }],
    });
    await expect(open({ nats, tls: { ca: "./no.pem" } })).rejects.toMatchObject({
      problems: [{ path: "directory.tls.ca" }],
    });
  });

  it("without the packages, and says what to install", async () => {
    const folder = await mkdtemp(join(tmpdir(), "seamline-nothing-"));
    onTestFinished(() => rm(folder, { recursive: true }));
    expect(() => natsPackages(folder, [join(folder, "package.json")])).toThrow(
      `'directory' needs the package @nats-io/transport-node, which isn't installed: npm install "@nats-io/transport-node@${natsVersions}" "@nats-io/jetstream@${natsVersions}" "@nats-io/kv@${natsVersions}"`,
    );
    for (const name of ["transport-node", "jetstream", "kv"] as const)
      expect(manifest.peerDependencies[`@nats-io/${name}`]).toBe(natsVersions);
  });
});

it("credentials of an account are taken from a file, and those of another are refused", async () => {
  const operator = nkeys.createOperator();
  const account = nkeys.createAccount();
  const system = nkeys.createAccount();
  const user = nkeys.createUser();
  const token = (issuer: nkeys.KeyPair, subject: nkeys.KeyPair, nats: object): string => {
    const encode = (value: object): string =>
      Buffer.from(JSON.stringify(value)).toString("base64url");
    const claims = {
      jti: "x",
      iat: 1,
      iss: issuer.getPublicKey(),
      sub: subject.getPublicKey(),
      name: "tests",
      nats: { version: 2, ...nats },
    };
    const text = `${encode({ typ: "JWT", alg: "ed25519-nkey" })}.${encode(claims)}`;
    const signature = Buffer.from(issuer.sign(new TextEncoder().encode(text))).toString(
      "base64url",
    );
    return `${text}.${signature}`;
  };
  const all = -1;
  const counted =
    "subs data payload imports exports conn leaf mem_storage disk_storage streams consumer".split(
      " ",
    );
  const limits = {
    ...Object.fromEntries(counted.map((name) => [name, all])),
    wildcards: true,
  };
  const preloaded = [account, system].map(
    (of) =>
      `${of.getPublicKey()}: "${token(operator, of, { type: "account", ...(of === account && { limits }) })}"`,
  );
  const server = await startNats({
    lines: `operator: "${token(operator, operator, { type: "operator" })}"
      resolver: MEMORY
      system_account: ${system.getPublicKey()}
      resolver_preload: { ${preloaded.join(", ")} }`,
  });
  const folder = await mkdtemp(join(tmpdir(), "seamline-creds-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  const write = async (name: string, issuer: nkeys.KeyPair): Promise<string> => {
    const jwt = token(issuer, user, { type: "user", subs: all, data: all, payload: all });
    const seed = new TextDecoder().decode(user.getSeed());
    const text = `-----BEGIN NATS USER JWT-----\n${jwt}\n------END NATS USER JWT------\n\n-----BEGIN USER NKEY SEED-----\n${seed}\n------END USER NKEY SEED------\n`;
    expect(credsAuthenticator(new TextEncoder().encode(text))).toBeTypeOf("function");
    await writeFile(join(folder, name), text);
    return join(folder, name);
  };
  const directory = await start({ nats: [server.url], creds: await write("right.creds", account) });
  await directory.announceGateway("http://10.0.0.1:1");
  expect(log.lines.filter((line) => /can't write/.test(line))).toEqual([]);
  await soon(() => expect(gatewaysOf(directory)).toEqual(["http://10.0.0.1:1"]));
  await expect(
    start({ nats: [server.url], creds: await write("wrong.creds", nkeys.createAccount()) }),
  ).rejects.toThrow(/refuses this service/);
});

it("examples/deploy/nats/nats.conf allows each role what it does, and no more", async () => {
  const server = await startNats({
    file: "examples/deploy/nats/nats.conf",
    env: {
      NATS_GATEWAY_PASSWORD: "gateway-secret",
      NATS_NODE_PASSWORD: "node-secret",
      NATS_PROXY_PASSWORD: "proxy-secret",
    },
  });
  const as = (user: Role): DirectoryConfig => ({
    nats: [`nats://${user}:${user}-secret@127.0.0.1:${server.port}`],
  });
  const own = new TestLog();
  const node = await open(as("node"), "node", own);
  const starting = node.start();
  // Only a gateway makes buckets.
  await soon(() =>
    expect(own.lines.join("\n")).toMatch(
      /is away \(it has no bucket 'seamline_gateways' yet, which a gateway makes: .*\): waiting for it/,
    ),
  );
  const gateway = await start(as("gateway"), "gateway", own);
  await gateway.announceGateway("http://10.0.0.1:1");
  await starting;
  const proxy = await start(as("proxy"), "proxy", own);
  for (const reader of [node, proxy])
    await soon(() => expect(gatewaysOf(reader)).toEqual(["http://10.0.0.1:1"]));
  const text = new TextEncoder().encode('{"procedures":["shop/quote"]}');
  const { digest } = nodeHost();
  const member = {
    url: "http://10.0.0.2:1",
    isHealthy: true,
    list: { digest: digest(text), bytes: text.length },
    text: () => text,
  };
  await node.announceMember(member);
  let members: readonly string[] = [];
  gateway.watchMembers((_, all) => (members = all().map(({ url }) => url)));
  await soon(() => expect(members).toEqual(["http://10.0.0.2:1"]));
  expect((await gateway.listOf(member)).procedures).toEqual(["shop/quote"]);
  const refused = (): number => own.lines.filter((line) => /can't write/.test(line)).length;
  expect(refused()).toBe(0);
  await node.announceGateway("http://10.6.6.6:1");
  await proxy.announceGateway("http://10.6.6.7:1");
  await proxy.announceMember({ ...member, url: "http://10.6.6.8:1" });
  await soon(() => expect(refused()).toBe(3));
  expect(gatewaysOf(proxy)).toEqual(["http://10.0.0.1:1"]);
  await Promise.all([node, proxy, gateway].map((directory) => directory.leave()));
});
