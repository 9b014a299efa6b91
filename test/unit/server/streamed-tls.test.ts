// Streamed requests to https addresses, whose connections have an agent of their own.

import { readFileSync } from "node:fs";

import { expect, it, onTestFinished } from "vitest";

import { listen } from "../../../server/http/http.ts";
import { createTransport } from "../../../server/http/transport.ts";
import { UnsentError } from "../../../src/base/ports.ts";
import { bytesOf, collected } from "../../../src/http/bodies.ts";
import { createCertificates } from "../../_certificates.ts";

it("a streamed request goes to an https address, and not to one with an unknown certificate", async () => {
  const certificates = createCertificates();
  const { cert, key } = certificates.sign("service");
  const server = await listen(
    async ({ body }) => ({ status: 200, headers: {}, body: await bytesOf(body) }),
    {
      host: "127.0.0.1",
      port: 0,
      tls: {
        cert: readFileSync(cert, "utf8"),
        key: readFileSync(key, "utf8"),
        passphrase: undefined,
      },
    },
  );
  onTestFinished(async () => await server.close(0));
  const send = async (authorities: readonly string[] | undefined): Promise<string> => {
    const transport = createTransport({ authorities });
    onTestFinished(async () => await transport.close());
    const body = (async function* () {
      yield Buffer.from("in");
      yield Buffer.from("out");
    })();
    const answer = await collected(
      transport.send({ url: `${server.url}/`, method: "POST", headers: {}, body }),
    );
    return new TextDecoder().decode(answer.body);
  };
  expect(await send([readFileSync(certificates.ca, "utf8")])).toBe("inout");
  const refused = await send(undefined).catch((error: unknown) => error);
  expect(refused).toBeInstanceOf(UnsentError);
  expect(String(refused)).toContain("has a certificate from an unknown authority");
});
