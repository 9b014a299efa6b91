import { describe, expect, it } from "vitest";

import { headers, linkHeaders, serviceHeaders } from "../../src/base/protocol.ts";
import { socketsForAll } from "./_attack.ts";
import { bytesOf, exchange, type RawRequest, type Service } from "./_sockets.ts";

// Services tell each other about a call in the heads of frames. What comes by HTTP in fields of such names is
// dropped unread: the answer is the same without it, and what goes behind is the same as well.

const sockets = await socketsForAll();

const base64 = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString("base64url");

/** Names and what somebody outside would like them to do. */
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
  [serviceHeaders.response, base64({ status: 202, headers: [["x-mine", "1"]] }), "%"],
  [serviceHeaders.refused, "yes"],
  [serviceHeaders.notStarted, "overload", "leaving"],
  ["x-svc-instance", "mine"],
  [serviceHeaders.base, "/mine/"],
  [linkHeaders.challenge, "mine"],
  [linkHeaders.hello, "{}"],
  [linkHeaders.proof, "mine.mine"],
  [linkHeaders.refused, "key"],
  ["x-svc-origin", "trusted"],
  ["x-svc-anything", "mine"],
  [serviceHeaders.forwardedHost, "mine.test"],
  [serviceHeaders.forwardedProto, "https"],
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
];

/** Without what differs from answer to answer. */
const varying = (text: string): string => text.replace(/\r\ndate: .*/i, "");

/** What is answered, and with what heads the request went on. */
async function seen(service: Service, request: RawRequest, ...more: readonly string[]) {
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
  it("has no field of a service from a caller without the key", async () => {
    for (const service of at) {
      const expected = await seen(service, request);
      for (const [name, ...values] of fields)
        for (const value of values)
          expect(
            await seen(service, request, `${name}: ${value}`),
            `${service}, ${name}: ${value}`,
          ).toEqual(expected);
    }
  });
});
