import { describe, expect, it } from "vitest";

import { sign } from "../../server/http/host.ts";
import { headers, linkHeaders, serviceHeaders } from "../../src/base/protocol.ts";
import { key } from "../_deployment.ts";
import { socketsForAll } from "./_attack.ts";
import { bytesOf, exchange, type RawRequest, type Service, services } from "./_sockets.ts";

// Services tell each other about a call in the heads of frames. What comes by HTTP in fields of such names is
// dropped unread: the answer is the same without it, and what goes behind is the same as well.

const sockets = await socketsForAll();

const base64 = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString("base64url");

/** Names, and the effect that an attacker would like them to have. */
const fields: readonly (readonly [name: string, ...values: string[]])[] = [
  [headers.hops, "9", "8", "-1", "x"],
  [headers.deadline, "0", "1", "999999999"],
  [headers.dataType, "json"],
  [headers.node, "mine"],
  [headers.error, "NotFound"],
  [serviceHeaders.locals, base64({ user: "admin" }), "%", base64([])],
  [serviceHeaders.request, "GET secure 10.0.0.1 https://mine.test/b", "x"],
  [serviceHeaders.crossSite, "yes", "no"],
  [serviceHeaders.errors, "masked", "shown"],
  [serviceHeaders.otherBuild, "yes"],
  [serviceHeaders.response, base64({ status: 202, headers: [["x-mine", "1"]] }), "%"],
  [serviceHeaders.refused, "yes"],
  [serviceHeaders.notStarted, "overload", "leaving"],
  ["x-svc-instance", "mine"],
  [serviceHeaders.base, "/mine/"],
  [linkHeaders.challenge, "mine"],
  [linkHeaders.hello, "{}"],
  [linkHeaders.proof, "mine.mine"],
  [linkHeaders.refused, "key"],
  [
    "x-svc-credential",
    ...["service", "outside"].map((by) => `${by} ${sign(key, `seamline/credential/1/${by}`)}`),
  ],
  ["x-svc-origin", "trusted"],
  ["x-svc-anything", "mine"],
  [serviceHeaders.forwardedHost, "mine.test"],
  [serviceHeaders.forwardedProto, "https"],
];

const theKey = `${serviceHeaders.trustKey}: ${key}`;
const callers: readonly (readonly [who: string, lines: readonly string[]])[] = [
  ["a caller without the key", []],
  ["a caller who shows the trust key", [theKey]],
];

const callServices = ["node", "gateway", "proxy", "standalone"] as const;
const requests: readonly (RawRequest & {
  readonly what: string;
  readonly at: readonly Service[];
})[] = [
  { what: "a call", at: callServices, target: "/rpc/a/view" },
  { what: "a call that fails", at: callServices, target: "/rpc/a/fail" },
  { what: "a call of a protected procedure", at: callServices, target: "/rpc/a/audit" },
  { what: "a call of an unknown procedure", at: callServices, target: "/rpc/a/none" },
  {
    what: "a call from a page of another origin",
    at: callServices,
    target: "/rpc/a/view",
    json: {},
    fields: ["Origin: https://other.test", "Sec-Fetch-Site: cross-site"],
  },
  {
    what: "a file",
    at: ["repository", "standalone", "proxy"],
    target: "/a/b.css",
  },
  { what: "the manifest", at: ["repository", "proxy"], target: "/svc/modules/manifest.json" },
  { what: "the members", at: ["gateway", "proxy", "node"], target: "/nodes" },
  { what: "the health", at: [...services, "standalone"], target: "/health" },
];

/** Without what differs from answer to answer. */
const varying = (text: string): string => text.replace(/\r\ndate: .*/i, "");

/** The answer, and the heads with which the request went on. */
async function seen(service: Service, request: RawRequest, more: readonly string[]) {
  sockets.heads.length = 0;
  const all = { ...request, fields: [...(request.fields ?? []), ...more] };
  const { head, body } = await exchange(sockets.ports[service], bytesOf(all));
  const behind = sockets.heads
    .filter(({ target }) => target.startsWith(request.target!))
    .map(({ headers: fieldsBehind, ...of }) => {
      const { traceparent: _, ...others } = fieldsBehind;
      const left = Number(others[headers.deadline]);
      return {
        target: of.target,
        from: of.from,
        headers: { ...others, [headers.deadline]: Math.round(left / 10_000) },
      };
    });
  return { head: varying(head), body, behind };
}

describe.each(requests)("$what", ({ at, what: _, ...request }) => {
  it.each(callers)("has no field of a service from %s", async (_who, own) => {
    for (const service of at) {
      const expected = await seen(service, request, own);
      for (const [name, ...values] of fields)
        for (const value of values)
          expect(
            await seen(service, request, [...own, `${name}: ${value}`]),
            `${service}, ${name}: ${value}`,
          ).toEqual(expected);
    }
  });
});

describe("a caller who shows the trust key", () => {
  const members = async (): Promise<string> =>
    (await exchange(sockets.ports.gateway, bytesOf({ target: "/nodes", fields: [theKey] }))).body;

  it.each<[string, RawRequest]>([
    ["join", { target: "/nodes", json: { url: "http://127.0.0.1:9", procedures: ["a/mine"] } }],
    ["send a list", { method: "PUT", target: `/nodes/lists/${"0".repeat(64)}`, json: {} }],
    ["renew a membership", { method: "PUT", target: "/nodes/m1" }],
    ["remove a member", { method: "DELETE", target: "/nodes/m1" }],
  ])("is no member, and can't %s over HTTP", async (_, request) => {
    const before = await members();
    expect(before).toContain('"members":[{');
    for (const service of services) {
      const bytes = bytesOf({ ...request, fields: [theKey] });
      const { status } = await exchange(sockets.ports[service], bytes);
      expect([service, Math.floor(status / 100)]).toEqual([service, 4]);
    }
    expect(await members()).toBe(before);
  });

  it("is asked for a right Host as every caller outside", async () => {
    for (const service of callServices) {
      const bytes = `GET /rpc/a/view HTTP/1.1\r\nHost: evil.example\r\n${theKey}\r\n\r\n`;
      const { status } = await exchange(sockets.ports[service], bytes);
      expect([service, status]).toEqual([service, 421]);
    }
  });
});
