import type { RouteRegistration } from "../../../src/runtime/routes.ts";
import { describe, expect, it } from "vitest";
import { BadRequest } from "../../../src/base/errors.ts";
import { createMembership } from "../../../src/roles/members/membership.ts";
import {
  describeMember,
  describeNode,
  readMemberDetails,
} from "../../../src/roles/members/member-details.ts";
import { Registry } from "../../../src/runtime/registry.ts";
import type { Parameter } from "../../../src/base/manifest.ts";
import { nodeHost } from "../../../server/http/host.ts";
import { TestClock, TestLog } from "../../_cluster.ts";

const parameters: readonly Parameter[] = [
  { kind: "plain", name: "sku" },
  { kind: "plain", name: "count", optional: true, type: "number" },
  {
    kind: "object",
    names: [
      { name: "from", type: "Date" },
      { name: "to", optional: true },
    ],
    optional: true,
  },
  { kind: "array", names: [{ name: "first" }, null, { name: "third" }] },
  { kind: "rest", name: "others" },
];

function registry(): Registry {
  const made = new Registry();
  made.add(
    "shop",
    { fqn: "shop/quote", version: "1.0.0", module: "shop/quote", export: "quote", parameters },
    { procedure: 0, access: "public" },
    async () => 1,
  );
  return made;
}

const feed: RouteRegistration = {
  name: "shop/feed",
  method: "GET",
  path: "/feed.xml",
  module: "m1",
  export: "feed",
  access: "protected",
  segments: ["shop"],
  trace: [],
  run: async () => new Response(),
};

describe("the details that a member sends", () => {
  it("are left out by a node that is larger than what a gateway keeps, as it couldn't join with them", () => {
    const segments = Array.from({ length: 1_001 }, (_, index) => `segment-${index}`);
    expect(describeMember("A", segments, registry().all(), [feed])).toBeUndefined();
    expect(describeMember("A", segments.slice(1), registry().all(), [feed])).toBeDefined();
  });

  it("are read back as they were described", () => {
    const about = describeNode("node A", ["shop"], registry().all(), [feed]);
    expect(about.procedures).toEqual([
      { fqn: "shop/quote", version: "1.0.0", access: "public", segments: ["shop"], parameters },
      {
        fqn: "shop/feed",
        version: "0.0.0",
        access: "protected",
        segments: ["shop"],
        parameters: [],
        route: "GET /feed.xml",
      },
    ]);
    expect(readMemberDetails(JSON.parse(JSON.stringify(about)))).toEqual(about);
    expect(readMemberDetails({ segments: [], procedures: [] })).toEqual({
      segments: [],
      procedures: [],
    });
  });

  it("may have more keys in a later version", () => {
    const sku = { kind: "plain", name: "sku" };
    const shared = { fqn: "a", version: "0.0.0", access: "public", segments: [] };
    expect(
      readMemberDetails({
        segments: [],
        procedures: [{ ...shared, parameters: [{ ...sku, form: "string" }] }],
        region: "attic",
      }),
    ).toEqual({ segments: [], procedures: [{ ...shared, parameters: [sku] }] });
  });

  const procedure = { fqn: "a", version: "0.0.0", access: "public", segments: [], parameters: [] };
  it("don't have a route that isn't a text", () => {
    const details = { segments: [], procedures: [{ ...procedure, route: 7 }] };
    expect(() => readMemberDetails(details)).toThrow(
      "'node.procedures[0].route' is not a text of 1 to 2000 characters",
    );
  });

  const parameter = (one: unknown) => ({
    segments: [],
    procedures: [{ ...procedure, parameters: [one] }],
  });

  it.each([
    ["'node' is not an object", "x"],
    ["'node' is not an object", []],
    [
      "'node.name' is not a text of 1 to 300 characters",
      { name: "", segments: [], procedures: [] },
    ],
    ["'node.segments' is not a list of at most 1000", { procedures: [] }],
    [
      "'node.segments' is not a list of at most 1000",
      { segments: Array(1001).fill("s"), procedures: [] },
    ],
    [
      "'node.segments[1]' is not a text of 1 to 300 characters",
      { segments: ["a", "b".repeat(301)], procedures: [] },
    ],
    [
      "'node.procedures' is not a list of at most 10000",
      { segments: [], procedures: Array.from({ length: 10_001 }, () => procedure) },
    ],
    [
      "'node.procedures[0].access' is not an access",
      { segments: [], procedures: [{ ...procedure, access: "open" }] },
    ],
    [
      "'node.procedures[0].version' is not a version",
      { segments: [], procedures: [{ ...procedure, version: "1" }] },
    ],
    [
      "'node.procedures[0].parameters[0].kind' is not a kind of parameter",
      parameter({ kind: "list", names: [] }),
    ],
    [
      "'node.procedures[0].parameters[0].type' is not a type of value",
      parameter({ kind: "plain", name: "a", type: "constructor" }),
    ],
    [
      "'node.procedures[0].parameters[0].optional' is not true, or nothing",
      parameter({ kind: "plain", name: "a", optional: "yes" }),
    ],
    [
      "'node.procedures[0].parameters[0].names[0]' is not an object",
      parameter({ kind: "object", names: [null] }),
    ],
    [
      "'node.procedures[0].parameters' is not a list of at most 100",
      {
        segments: [],
        procedures: [
          {
            ...procedure,
            parameters: Array.from({ length: 101 }, () => ({ kind: "rest", name: "a" })),
          },
        ],
      },
    ],
  ])("are refused: %s", (message, value) => {
    expect(() => readMemberDetails(value)).toThrow(new BadRequest(message));
  });

  it("are left out when the gateway answers 413, so that the member can still join", async () => {
    const bodies: Record<string, unknown>[] = [];
    await createMembership({
      host: { ...nodeHost(), clock: new TestClock(), log: new TestLog() },
      gateway: "http://gateway",
      link: {
        isLinked: true,
        send: async ({ body: text }) => {
          const body = JSON.parse(text as string) as Record<string, unknown>;
          bodies.push(body);
          return { status: "node" in body ? 413 : 201, headers: {}, body: new Uint8Array() };
        },
      },
      offered: () => ({ procedures: ["a"] }),
      about: () => describeNode("A", ["shop"], registry().all(), []),
    }).join("http://a");
    expect(bodies).toEqual([
      expect.objectContaining({ node: expect.objectContaining({ name: "A" }) as unknown }),
      { url: "http://a", procedures: ["a"] },
    ]);
  });
});
