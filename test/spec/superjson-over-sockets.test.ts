// Every wire case in superjson over real sockets: straight to a node, through proxy
// and gateway, and from node to node.

import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { defaultLimits } from "../../src/base/limits.ts";
import { decodeSuperjson, encodeSuperjson } from "../../src/codec/superjson/superjson.ts";
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

/** Values that superjson can't write. */
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
] as const)("over sockets, %s:", (_, endpoint) => {
  const at = (path: string): string => `${sockets[endpoint]}/rpc/wire/${path}`;

  it.each(carried.map((wireCase) => [wireCase.name, wireCase] as const))(
    "%s, there and back (superjson-2)",
    async (_name, wireCase: WireCase) => {
      const body = await encodeSuperjson({ value: wireCase.value }, { classes });
      const expected =
        wireCase.name === "object without a prototype" ? wireCase.decoded : wireCase.value;
      const answer = await postTo(at("echo"), body, trusted);
      await expectSame(arrived.value, expected);
      expect(answer).toMatchObject({
        status: 200,
        headers: { "content-type": "application/json", "x-svc-data-encoding": "superjson" },
      });
      await expectSame(read(answer), expected);
      await expectSame(
        read(
          await fetchFrom(`${at("example")}?name=${encodeURIComponent(wireCase.name)}`, {
            headers: encoded,
          }),
        ),
        expected,
      );
      // RegExps and errors are accepted from services only.
      expect((await postTo(at("wrapped"), body, encoded)).status).toBe(
        wireCase.trusted ? 400 : 200,
      );
    },
  );

  it.each(Object.entries(lost))(
    "superjson: %s is refused with its path, and not sent as something else",
    async (name, message) => {
      const answer = await fetchFrom(`${at("example")}?name=${encodeURIComponent(name)}`, {
        headers: encoded,
      });
      const trace = ["[wire/example | v0.0.0]"];
      expect([answer.status, answer.headers["x-svc-error"], JSON.parse(answer.text)]).toEqual([
        500,
        "ValueNotSerializable",
        {
          json: { name: "ValueNotSerializable", message, trace, fields: {} },
          meta: { values: ["Error"], v: 1 },
        },
      ]);
    },
  );

  it.each(["Forbidden", "OutOfStock", "Refused"])(
    "superjson: an error of class %s keeps class, status and trace lines",
    async (name) => {
      const thrown = await callFrom(sockets.host, sockets[endpoint], "wire/fail", { name }).catch(
        (error: unknown) => error,
      );
      const answer = await fetchFrom(`${at("fail")}?name=${name}`, { headers: encoded });
      expect(answer.status).toBe({ Forbidden: 403, OutOfStock: 404, Refused: 500 }[name]);
      expect(read(answer)).toStrictEqual(thrown);
      expect((thrown as Error).constructor.name).toBe(name);
    },
  );
});

it("a cycle that one node sends to another through the gateway stays one (superjson-7)", async () => {
  const ada = new Employee("Ada");
  ada.tags.set("self", ada);
  const back = (await callFrom(sockets.host, sockets.proxy, "wire/relay", {
    value: ada,
  })) as Employee;
  for (const employee of [arrived.value as Employee, back]) {
    expect(employee).toBeInstanceOf(Employee);
    expect(employee).not.toBe(ada);
    expect(employee.tags.get("self")).toBe(employee);
  }
});
