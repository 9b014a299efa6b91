// Every wire case in superjson over real sockets: what it carries straight to a node, through proxy and gateway, and from node to node.

import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { defaultLimits } from "../../src/serializer/limits.ts";
import { decodeSuperjson, encodeSuperjson } from "../../src/serializer/superjson.ts";
import {
  type Answer,
  arrived,
  callFrom,
  fetchFrom,
  key,
  postTo,
  type Sockets,
  startSockets,
} from "../_sockets.ts";
import { expectSame } from "../_same.ts";
import { type WireCase, wireCases } from "../_wire-cases.ts";
import { createWireClasses, Employee } from "../_wire-classes.ts";

let sockets: Sockets;
beforeAll(async () => {
  sockets = await startSockets();
});
afterAll(() => sockets.close());

const classes = createWireClasses();
const encoded = { "x-svc-data-encoding": "superjson" };
const trusted = { ...encoded, "x-svc-trust-key": key };
const read = (answer: Answer): unknown =>
  decodeSuperjson(answer.text, { classes, limits: defaultLimits, trusted: true });

/** What superjson has no way to write. */
const lost: Readonly<Record<string, string>> = {
  "invalid date": "result: superjson can't carry an invalid date",
  buffer: "result[0]: superjson can't carry an ArrayBuffer",
  "typed arrays": "result[2]: superjson can't carry a BigInt64Array",
  "only the bytes of the view": "result[0]: superjson can't carry a DataView",
};
const carried = wireCases.filter(({ name }) => lost[name] === undefined);

describe.each([
  ["straight to its node", "node"],
  ["through proxy and gateway", "proxy"],
] as const)("D3.superjson over sockets, %s:", (_, door) => {
  const at = (path: string): string => `${sockets[door]}/rpc/wire/${path}`;

  it.each(carried.map((one) => [one.name, one] as const))(
    "%s, there and back (D3.superjson-2)",
    async (_name, one: WireCase) => {
      const body = await encodeSuperjson({ value: one.value }, { classes });
      const expected = one.name === "object without a prototype" ? one.decoded : one.value;
      const answer = await postTo(at("echo"), body, trusted);
      await expectSame(arrived.value, expected);
      expect(answer).toMatchObject({
        status: 200,
        headers: { "content-type": "application/json", "x-svc-data-encoding": "superjson" },
      });
      await expectSame(read(answer), expected);
      await expectSame(
        read(
          await fetchFrom(`${at("example")}?name=${encodeURIComponent(one.name)}`, {
            headers: encoded,
          }),
        ),
        expected,
      );
      // A pattern or an error is taken from services only.
      expect((await postTo(at("wrapped"), body, encoded)).status).toBe(one.trusted ? 400 : 200);
    },
  );

  it.each(Object.entries(lost))(
    "%s is refused with its path, and not sent as something else",
    async (name, message) => {
      const answer = await fetchFrom(`${at("example")}?name=${encodeURIComponent(name)}`, {
        headers: encoded,
      });
      expect([answer.status, answer.headers["x-svc-error"], JSON.parse(answer.text)]).toEqual([
        500,
        "ValueNotSerializable",
        {
          json: { name: "ValueNotSerializable", message, trace: [], fields: {} },
          meta: { values: ["Error"], v: 1 },
        },
      ]);
    },
  );

  it.each(["Forbidden", "OutOfStock", "Refused"])(
    "an error of class %s keeps class, status and lines",
    async (name) => {
      const thrown = await callFrom(sockets.host, sockets[door], "wire/fail", { name }).catch(
        (error: unknown) => error,
      );
      const answer = await fetchFrom(`${at("fail")}?name=${name}`, { headers: encoded });
      expect(answer.status).toBe({ Forbidden: 403, OutOfStock: 404, Refused: 500 }[name]);
      expect(read(answer)).toStrictEqual(thrown);
      expect((thrown as Error).constructor.name).toBe(name);
    },
  );
});

it("a cycle that one node sends to another through the gateway stays one (D3.superjson-7)", async () => {
  const ada = new Employee("Ada");
  ada.tags.set("self", ada);
  const back = (await callFrom(sockets.host, sockets.proxy, "wire/relay", {
    value: ada,
  })) as Employee;
  for (const one of [arrived.value as Employee, back]) {
    expect(one).toBeInstanceOf(Employee);
    expect(one).not.toBe(ada);
    expect(one.tags.get("self")).toBe(one);
  }
});
