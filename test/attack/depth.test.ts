// Texts that are as deep as they're long, and too short to be counted before they're parsed.

import { describe, expect, it, onTestFinished } from "vitest";

import { createTestCluster } from "../../server/testing/index.ts";
import { createFixture } from "../build/_fixture.ts";
import { multipart } from "../spec/_uploads.ts";
import { shop } from "../testing/_shop.ts";
import { attack, callServices, socketsForAll } from "./_attack.ts";
import { bytesOf } from "./_sockets.ts";

const closed = (open: string, close: string, levels: number): string =>
  `${open.repeat(levels)}1${close.repeat(levels)}`;
const tooDeep = "More than 128 levels of nesting (limit 'maxDepth')";
const deep: readonly (readonly [name: string, text: string, message: string])[] = [
  ["lists", closed("[", "]", 99_900), tooDeep],
  ["objects", closed('{"a":', "}", 33_000), tooDeep],
  ["sets", closed('{"serialized":true,"name":"Set","values":[', "]}", 4_500), tooDeep],
  [
    "instances",
    closed(
      '{"serialized":true,"key":"a/Person","name":"class","args":{"0":',
      '},"fields":{}}',
      2_500,
    ),
    tooDeep,
  ],
  ["lists that don't end", "[".repeat(199_900), "The text is not JSON"],
];

const sockets = await socketsForAll();

describe.each(deep)(
  "a text of 200,000 characters with %s that are all nested",
  (_, text, message) => {
    it.each(["", "serialized", "superjson"])(
      "is a 400 that says why as a call's body, in the encoding '%s'",
      async (encoding) => {
        const body = encoding === "superjson" ? `{"json":{"value":${text}}}` : `{"value":${text}}`;
        const fields = encoding === "" ? [] : [`x-svc-data-encoding: ${encoding}`];
        const bytes = bytesOf({ target: "/rpc/a/echo", body, fields });
        for (const answer of await attack(sockets, callServices, bytes, 400))
          expect(answer.body).toContain(message);
      },
    );
    it("is a 400 that says why as the arguments of a call with files", async () => {
      const body = multipart(["args", `{"value":${text}}`]);
      const bytes = bytesOf({
        target: "/rpc/a/echo",
        body,
        fields: [
          "content-type: multipart/form-data; boundary=b",
          "x-svc-data-encoding: serialized",
        ],
      });
      for (const answer of await attack(sockets, callServices, bytes, 400))
        expect(answer.body).toContain(message);
    });
  },
);

it("a deep text is a 400 that says why in a test cluster's fetch", async () => {
  const cluster = await createTestCluster({ root: createFixture(shop).root });
  onTestFinished(async () => await cluster.stop());
  for (const [, text, message] of deep) {
    const answer = await cluster.fetch("/rpc/warehouse/stock", {
      method: "POST",
      headers: { "content-type": "application/json", "x-svc-data-encoding": "serialized" },
      body: `{"sku":${text}}`,
    });
    expect([answer.status, await answer.text()]).toEqual([400, expect.stringContaining(message)]);
  }
});
