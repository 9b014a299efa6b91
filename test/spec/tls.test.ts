// `tls`: certificates are made when the tests run.

import { readFileSync, writeFileSync } from "node:fs";
import { get } from "node:https";
import { connect, type Socket } from "node:net";
import { once } from "node:events";
import { join } from "node:path";

import { describe, expect, it, vi } from "vitest";

import { listen } from "../../server/http/http.ts";
import { send } from "../../server/cli/call.ts";
import { Problems } from "../../src/base/problem.ts";
import { type Certificates, createCertificates } from "../_certificates.ts";
import { applicationOf, start } from "./_started.ts";

const anyPort = "https://127.0.0.1:0";
const empty = applicationOf;

/** Requests over https, trusting only the test's authority. */
async function ask(
  certificates: Certificates,
  url: string,
  headers: Record<string, string> = {},
): Promise<string> {
  return await new Promise((resolve, reject) => {
    get(url, { ca: readFileSync(certificates.ca), headers, agent: false }, (answer) => {
      let text = "";
      answer.setEncoding("utf8").on("data", (chunk: string) => (text += chunk));
      answer.on("end", () => resolve(`${answer.statusCode} ${text}`));
    }).on("error", reject);
  });
}

async function problemsOf(starting: Promise<unknown>): Promise<readonly string[]> {
  const error: unknown = await starting.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (!(error instanceof Problems)) throw new Error("no problems", { cause: error });
  return error.problems.map((problem) => `${problem.path}: ${problem.message}`);
}

describe("a service with tls", () => {
  it("every mode listens with https, and they call each other by https when tls.ca names the authority (configuration-29)", async () => {
    const certificates = createCertificates();
    const tls = { ...certificates.sign("service"), ca: certificates.ca };
    const application = applicationOf({
      "src/greet/greet.ts":
        'import { name } from "./name.ts";\nexport async function greet() { return `Hello, ${await name()}`; }\n',
      "src/greet/name.ts": "export async function name() { return `Ada`; }\n",
      "greet.segment.json": '{ "./greet/greet": { "greet": { "access": "public" } } }',
      "name.segment.json": '{ "./greet/name": { "name": { "access": "protected" } } }',
    });
    const common = { url: anyPort, tls };
    const repository = (await start(application, { mode: "repository", ...common })).url;
    const gateway = (await start(application, { mode: "gateway", ...common })).url;
    await start(application, { mode: "node", ...common, gateway, repository, segments: ["greet"] });
    await start(application, { mode: "node", ...common, gateway, repository, segments: ["name"] });
    const proxy = await start(application, { mode: "proxy", ...common, gateway, repository });
    const standalone = await start(application, { mode: "standalone", ...common });
    expect(
      [repository, gateway, proxy.url, standalone.url].every((url) =>
        /^https:\/\/127\.0\.0\.1:\d+$/.test(url),
      ),
    ).toBe(true);
    await vi.waitFor(
      async () =>
        expect(await ask(certificates, `${proxy.url}/rpc/greet/greet`)).toBe("200 Hello, Ada"),
      {
        timeout: 10_000,
      },
    );
    expect(await ask(certificates, `${standalone.url}/rpc/greet/greet`)).toBe("200 Hello, Ada");
  });

  it("commands that call a service whose certificate authority is unknown fail, and say which key to set", async () => {
    const tls = createCertificates().sign("service");
    const gateway = await start(empty({}), { mode: "gateway", url: anyPort, tls });
    const asked = (url: string) =>
      send(
        { url: `${url}/health/live`, method: "GET", headers: {} },
        { signal: AbortSignal.timeout(5_000) },
      );
    await expect(asked(gateway.url)).rejects.toThrow(
      /unknown authority: name the authority's certificate in 'tls\.ca' or the variable NODE_EXTRA_CA_CERTS/,
    );
    const plain = await start(empty({}), { mode: "gateway", url: "http://127.0.0.1:0" });
    await expect(asked(plain.url.replace("http:", "https:"))).rejects.toThrow(
      "doesn't speak https: its address begins with http:",
    );
  });

  it("the key of a certificate may be encrypted", async () => {
    const certificates = createCertificates();
    const tls = certificates.sign("service", { passphrase: "sesame" });
    const options = { mode: "gateway", url: anyPort };
    expect(await problemsOf(start(empty({}), { ...options, tls }))).toEqual([
      "tls.passphrase: the private key is encrypted",
    ]);
    expect(
      await problemsOf(start(empty({}), { ...options, tls: { ...tls, passphrase: "wrong" } })),
    ).toEqual(["tls.passphrase: it doesn't open the private key"]);
    const server = await start(empty({}), { ...options, tls: { ...tls, passphrase: "sesame" } });
    expect(await ask(certificates, `${server.url}/health/live`)).toBe("200 true");
  });

  it("certificate files that are missing, invalid or don't match are reported at start, with key and file (configuration-29)", async () => {
    const certificates = createCertificates();
    const first = certificates.sign("one");
    const second = certificates.sign("other");
    const application = empty({});
    const starting = (tls: object) =>
      problemsOf(start(application, { mode: "gateway", url: anyPort, tls }));
    writeFileSync(join(application.root, "no.pem"), "nothing");
    expect(await starting({ cert: "./none.pem", key: ".", ca: "no.pem" })).toEqual([
      "tls.cert: there is no such file",
      "tls.key: it can't be read (EISDIR)",
      expect.stringMatching(/^tls\.ca: this isn't a certificate/),
    ]);
    expect(await starting({ cert: "no.pem", key: "no.pem" })).toEqual([
      expect.stringMatching(/^tls\.cert: this isn't a certificate/),
      expect.stringMatching(/^tls\.key: this isn't a private key/),
    ]);
    expect(await starting({ cert: first.cert, key: second.key })).toEqual([
      `tls.key: it doesn't belong to the certificate ${first.cert}`,
    ]);
    const file = join(application.root, "none.pem");
    await expect(
      start(application, { mode: "gateway", url: anyPort, tls: { ...first, cert: "none.pem" } }),
    ).rejects.toThrow(`${file} at tls.cert: there is no such file`);
  });

  it("a certificate that callers would refuse is a warning", async () => {
    const certificates = createCertificates();
    const server = await start(empty({}), {
      mode: "gateway",
      url: anyPort,
      tls: certificates.sign("service", { hosts: "DNS:shop.example" }),
    });
    expect(server.lines.join("\n")).toMatch(
      /service\.cert\.pem is not for '127\.0\.0\.1', the host in 'url'/,
    );
    const fine = await start(empty({}), {
      mode: "gateway",
      url: anyPort,
      tls: certificates.sign("fine"),
    });
    expect(fine.lines.join("\n")).not.toContain("cert.pem");
  });
});

describe("sockets of a service with tls", () => {
  const open = async (headerTime = 10_000) => {
    const certificates = createCertificates();
    const { cert, key } = certificates.sign("service");
    const tls = { cert: readFileSync(cert, "utf8"), key: readFileSync(key, "utf8") };
    const server = await listen(async () => ({ status: 200, headers: {}, body: "here" }), {
      host: "127.0.0.1",
      port: 0,
      tls,
      limits: { headerTimeoutMs: headerTime },
    });
    return { server, certificates };
  };
  const silent = async (url: string): Promise<Socket> => {
    const socket = connect(Number(new URL(url).port), "127.0.0.1");
    socket.on("error", () => {});
    await once(socket, "connect");
    return socket;
  };

  it("a connection without a TLS handshake is closed, and others go on", async () => {
    const { server, certificates } = await open();
    const socket = await silent(server.url);
    socket.write("GET / HTTP/1.1\r\nhost: a\r\n\r\n");
    await once(socket, "close");
    expect(await ask(certificates, `${server.url}/`)).toBe("200 here");
    await server.close(1_000);
  });

  it("a connection that never finishes its handshake is cut after headerTime, and at once when the service stops", async () => {
    const { server } = await open(100);
    const slow = await silent(server.url);
    await once(slow, "close");
    await server.close(1_000);

    const patient = await open(60_000);
    const waiting = await silent(patient.server.url);
    await expect.poll(() => waiting.readyState).toBe("open");
    const closed = once(waiting, "close");
    await patient.server.close(60_000);
    await closed;
  });
});
