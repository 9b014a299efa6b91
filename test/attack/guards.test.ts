// Ways around a guard: everything that a caller outside can write, sent as bytes to each service. What is guarded
// counts its runs, and must not have run.

import { afterEach, describe, expect, it } from "vitest";

import { Unauthorized } from "../../src/base/errors.ts";
import { getContext } from "../../server/host/carrier.ts";
import type { TestProcedure } from "../_cluster.ts";
import { key } from "../_deployment.ts";
import { dialAsMember, type FakeMember, socketDial } from "../_fake-member.ts";
import { guardedModules } from "../_guards.ts";
import { names } from "../spec/_shop.ts";
import { application } from "./_application.ts";
import { attack, callServices, expectAlive, socketsForAll } from "./_attack.ts";
import { bytesOf, exchange, type RawRequest } from "./_sockets.ts";

let runs = 0;
const guard = "auth#refuses";
const guarded = (
  fqn: string,
  access: "public" | "protected",
  version = "0.0.0",
): TestProcedure => ({
  fqn,
  version,
  parameters: names("amount"),
  in: { main: { access, guard } },
  body: () => async () => ++runs,
});

const sockets = await socketsForAll({
  modules: guardedModules(
    {
      refuses: async (): Promise<void> => {
        // Forged fields reach nothing that a guard would look at.
        if (getContext().locals !== undefined && "user" in getContext().locals) return;
        throw new Unauthorized("refused");
      },
    },
    [
      ...application,
      guarded("a/pay", "public"),
      guarded("a/pay", "public", "2.0.0"),
      guarded("a/refund", "protected"),
    ],
    [
      {
        name: "a/paid",
        route: "GET /paid/:by",
        guard,
        segment: "main",
        run: () => new Response(`${++runs}`),
      },
    ],
  ),
});

afterEach(() => expect(runs).toBe(0));

const pay = "/rpc/a/pay?amount=1";

describe("a guarded procedure", () => {
  it.each<[string, RawRequest, number | readonly number[]]>([
    ["GET", { target: pay }, 401],
    [
      "POST",
      { target: "/rpc/a/pay", json: { amount: 1 }, fields: ["content-type: application/json"] },
      401,
    ],
    [
      "a form",
      {
        target: "/rpc/a/pay",
        method: "POST",
        body: "amount=1",
        fields: ["content-type: application/x-www-form-urlencoded"],
      },
      [401, 403, 415],
    ],
    ["HEAD", { target: pay, method: "HEAD", fields: ["connection: close"] }, 405],
    ["OPTIONS", { target: pay, method: "OPTIONS" }, [204, 405]],
    ["PUT", { target: pay, method: "PUT" }, 405],
    ["QUERY", { target: pay, method: "QUERY" }, [400, 405, 501]],
    ["lower case", { target: pay, method: "get" }, [400, 405, 501]],
    [
      "an overridden method",
      {
        target: pay,
        method: "POST",
        fields: ["x-http-method-override: OPTIONS", "content-length: 0"],
      },
      401,
    ],
    ["an empty version", { target: `${pay}&version=` }, 401],
    ["its version", { target: `${pay}&version=0.0.0` }, 401],
    ["another version", { target: `${pay}&version=2` }, 401],
    ["a version that isn't there", { target: `${pay}&version=1` }, 404],
    ["two versions", { target: `${pay}&version=1&version=2` }, 400],
    ["an escaped slash", { target: "/rpc/a%2Fpay?amount=1" }, [401, 404]],
    ["escaped letters", { target: "/rpc/%61/p%61y?amount=1" }, [401, 404]],
    ["escaped twice", { target: "/rpc/a%252Fpay?amount=1" }, 404],
    ["two slashes before", { target: `/${pay}` }, 404],
    ["two slashes within", { target: "/rpc/a//pay?amount=1" }, 404],
    ["a dot", { target: "/rpc/./a/pay?amount=1" }, 404],
    ["two dots", { target: "/rpc/a/../a/pay?amount=1" }, 404],
    ["escaped dots", { target: "/rpc/a/%2e%2e/a/pay?amount=1" }, 404],
    ["a slash behind", { target: "/rpc/a/pay/?amount=1" }, 404],
    ["a backslash", { target: "/rpc/a\\pay?amount=1" }, [400, 404]],
    ["a zero byte", { target: "/rpc/a/pay%00?amount=1" }, 404],
    ["capitals", { target: "/rpc/A/Pay?amount=1" }, 404],
    ["capitals of the path", { target: "/RPC/a/pay?amount=1" }, 404],
    ["the whole address", { target: `http://127.0.0.1${pay}` }, [400, 401, 421]],
    ["a fragment", { target: `${pay}#x` }, [400, 401, 404]],
    ["the name of its route", { target: "/rpc/a/paid" }, 404],
    ["the name of its guard", { target: "/rpc/auth/refuses" }, 404],
    [
      "the console's path",
      {
        target: "/svc/console/rpc/a/pay",
        json: { amount: 1 },
        fields: ["content-type: application/json"],
      },
      [401, 403, 404],
    ],
    [
      "an upgrade",
      { target: pay, fields: ["connection: upgrade", "upgrade: websocket"] },
      [400, 401, 404, 426, 501],
    ],
  ])("isn't run by %s", async (_, request, status) => {
    await attack(sockets, callServices, bytesOf(request), status);
  });

  it.each<[string, readonly string[]]>([
    ["the trust key", [`x-svc-trust-key: ${key}`]],
    ["a word for it", ["x-svc-from: service", "x-svc-inner: yes", "x-svc-credential: service"]],
    ["the field of tests", ["from: service", "x-from: service"]],
    [
      "hops, as if services had passed it on",
      ["x-svc-hops: 3", "x-svc-deadline: 1000", "via: 1.1 gateway"],
    ],
    ["that it isn't cross-site", ["x-svc-cross-site: no", "sec-fetch-site: same-origin"]],
    [
      "locals in which somebody is signed in",
      ['x-svc-locals: {"user":"ada"}', "x-svc-locals: eyJ1c2VyIjoiYWRhIn0="],
    ],
    [
      "addresses",
      ["x-forwarded-for: 127.0.0.1", "forwarded: for=127.0.0.1", "x-real-ip: 127.0.0.1"],
    ],
    ["that a guard has passed it", ["x-svc-guard: passed", "x-svc-guarded: yes"]],
    ["a protocol of links", ["x-svc-link: 1", "upgrade: seamline-link/1"]],
  ])("isn't run by a caller whose fields say %s", async (_, fields) => {
    await attack(sockets, callServices, bytesOf({ target: pay, fields }), 401);
    const json = { target: "/rpc/a/refund", json: { amount: 1 } };
    const type = "content-type: application/json";
    await attack(sockets, callServices, bytesOf({ ...json, fields: [type, ...fields] }), 401);
  });

  it("isn't run by a request in the body of one that is refused", async () => {
    for (const service of callServices) {
      const inner = bytesOf({ target: pay, fields: [`x-svc-trust-key: ${key}`] }).toString(
        "latin1",
      );
      const outer = bytesOf({
        target: "/rpc/a/pay",
        method: "POST",
        body: inner,
        fields: ["content-type: application/json"],
      });
      expect((await exchange(sockets.ports[service], outer)).status).toBe(401);
      const chunked = `POST /rpc/a/pay HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\ncontent-length: 5\r\n\r\n0\r\n\r\n${inner}`;
      expect([0, 400, 401, 421]).toContain(
        (await exchange(sockets.ports[service], chunked)).status,
      );
      await expectAlive(sockets, service);
    }
  });

  it("isn't run by a refused call that is sent again and again", async () => {
    for (const service of callServices)
      for (let again = 0; again < 20; again++)
        expect((await exchange(sockets.ports[service], bytesOf({ target: pay }))).status).toBe(401);
  });
});

describe("a guarded route", () => {
  it.each<[string, RawRequest, number | readonly number[]]>([
    ["GET", { target: "/paid/ada" }, 401],
    ["HEAD", { target: "/paid/ada", method: "HEAD", fields: ["connection: close"] }, 401],
    ["OPTIONS", { target: "/paid/ada", method: "OPTIONS" }, 204],
    ["POST", { target: "/paid/ada", method: "POST", body: "" }, 405],
    ["escaped letters", { target: "/%70aid/ada" }, [401, 404]],
    ["two slashes", { target: "//paid/ada" }, [401, 404]],
    ["a slash behind", { target: "/paid/ada/" }, 404],
    ["two dots", { target: "/x/../paid/ada" }, 404],
    ["a semicolon", { target: "/paid/ada;x=1" }, [401, 404]],
    [
      "a preflight",
      {
        target: "/paid/ada",
        method: "OPTIONS",
        fields: ["origin: https://evil.example", "access-control-request-method: GET"],
      },
      204,
    ],
  ])("isn't run by %s", async (_, request, status) => {
    await attack(sockets, callServices, bytesOf(request), status);
  });
});

describe("a link", () => {
  const dial = async (role: "node" | "proxy", service: "gateway" | "node"): Promise<FakeMember> =>
    await dialAsMember({
      dial: socketDial(),
      gateway: `http://127.0.0.1:${sockets.ports[service]}`,
      role,
      roles: [service],
    });

  it.each(["gateway", "node"] as const)(
    "of a proxy to a %s carries no call of a procedure: it ends, and nothing is run",
    async (service) => {
      for (const from of ["service", "key"] as const) {
        const link = await dial("proxy", service);
        await expect(link.request("GET", pay, "", {}, from)).rejects.toThrow();
        expect(link.isClosed).toBe(true);
        await expectAlive(sockets, service);
      }
      const link = await dial("proxy", service);
      for (const from of ["trusted", "outside"] as const)
        expect((await link.request("GET", pay, "", { "x-svc-from": "service" }, from)).status).toBe(
          401,
        );
      link.die();
    },
  );

  it("of a stranger isn't opened", async () => {
    for (const service of ["gateway", "node"] as const) {
      const fields = ["connection: upgrade", "upgrade: seamline-link.1"];
      await attack(
        sockets,
        [service],
        bytesOf({ target: "/svc/link", fields }),
        [400, 401, 403, 404, 426],
      );
    }
  });
});
