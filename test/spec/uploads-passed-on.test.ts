// Calls with files on their way through gateway and proxy.

import { describe, expect, it } from "vitest";

import type { Middleware } from "../../src/http/middleware.ts";
import {
  aFile,
  ask,
  deployUploads,
  encodedForm,
  marked,
  multipart,
  shownFile,
  type Uploads,
} from "./_uploads.ts";

const file = marked("File", {
  part: "f0",
  fileName: "a.txt",
  mediaType: "text/x",
  lastModified: 0,
});
const odd = multipart(
  ["args", `{ "first" : ${JSON.stringify(file)}, "second" : 1 }`],
  ["f0", "one", "z"],
);
const shown = { is: "File", type: "text/x", text: "one", name: "a.txt", lastModified: 0 };

function looking(look: (args: Map<string, unknown>) => unknown): Middleware {
  return {
    async handle(_fqn, _version, args, _headers, next) {
      look(args);
      return await next();
    },
  };
}

/** The request that the service behind `endpoint` got, and the answer. */
async function pass(
  { cluster, ...roles }: Uploads,
  endpoint: "gateway" | "proxy",
  look: (args: Map<string, unknown>) => unknown,
  body: string,
  target = "/rpc/u/show?version=0.0.0",
  headers: Record<string, string> = encodedForm,
) {
  roles[endpoint].addMiddleware(looking(look));
  cluster.network.sent.length = 0;
  const answer = await ask(roles[endpoint], "POST", target, headers, body);
  const [sent] = cluster.network.sent.filter(({ url }) => url.includes("/rpc/"));
  return {
    answer,
    sent,
    value: answer.status === 200 ? (JSON.parse(answer.text) as unknown) : answer.text,
  };
}

describe.each(["gateway", "proxy"] as const)("at the %s", (endpoint) => {
  it.each<[string, (args: Map<string, unknown>) => unknown]>([
    ["no middleware that looks", () => undefined],
    ["middleware that reads the names and the number", (args) => [args.get("second"), args.size]],
    ["middleware that reads the file", (args) => (args.get("first") as File).size],
    ["middleware that sets the same file", (args) => args.set("first", args.get("first"))],
  ])(
    "uploads-15: a call with files passes gateway and proxy as the bytes that came, unless middleware changes it: %s",
    async (_, look) => {
      for (const modules of [{}, { modules: true }] as const) {
        const uploads = await deployUploads(modules);
        const { sent, value } = await pass(uploads, endpoint, look, odd);
        expect(sent?.body).toBe(odd);
        expect(sent?.headers["content-type"]).toBe(encodedForm["content-type"]);
        expect(value).toEqual([shown, 1]);
      }
    },
  );

  it("uploads-16: middleware sees files, and may replace, add and remove them", async () => {
    for (const modules of [{}, { modules: true }] as const) {
      const seen: unknown[] = [];
      const replaced = await pass(
        await deployUploads(modules),
        endpoint,
        (args) => {
          seen.push((args.get("first") as File).name);
          args.set("second", [args.get("first"), aFile()]);
          args.set("first", "gone");
        },
        odd,
      );
      expect([seen, replaced.value]).toEqual([["a.txt"], ["gone", [shown, shownFile]]]);
      expect(replaced.sent?.url).toMatch(/\/rpc\/u\/show\?version=0\.0\.0$/);
      const removed = await pass(
        await deployUploads(modules),
        endpoint,
        (args) => args.set("first", 2),
        odd,
      );
      expect(removed.value).toEqual([2, 1]);
      expect(removed.sent?.headers["content-type"]).toMatch(/^multipart\/form-data;/);
      const added = await pass(
        await deployUploads({ modules: true }),
        endpoint,
        (args) => args.set("second", aFile()),
        '{"first":1,"second":2}',
        "/rpc/u/show",
        { "content-type": "application/json" },
      );
      expect(added.value).toEqual([1, shownFile]);
    }
  });

  it("middleware may change the fields of a form that names no encoding (uploads-16)", async () => {
    for (const modules of [{}, { modules: true }] as const) {
      const { value } = await pass(
        await deployUploads(modules),
        endpoint,
        (args) => args.set("tags", ["x", "y"]),
        multipart(["file", "one", 'a".txt'.replace('"', '\\"')], ["count", "3"]),
        "/rpc/u/form",
        { "content-type": encodedForm["content-type"] },
      );
      expect(value).toMatchObject([
        { name: 'a".txt', type: "text/x", text: "one" },
        3,
        null,
        ["x", "y"],
        null,
      ]);
    }
    const unfit = await pass(
      await deployUploads(),
      endpoint,
      (args) => args.set("tags", { a: 1 }),
      multipart(["count", "3"]),
      "/rpc/u/form",
      { "content-type": encodedForm["content-type"] },
    );
    expect(unfit.value).toBe(
      "args.tags: a form can't carry it; set 'repository' in this service's configuration",
    );
  });

  it("uploads-17: files in an instance that the service doesn't open keep their parts when middleware changes another argument", async () => {
    const crate = {
      serialized: true,
      key: "u/Crate",
      name: "class",
      args: { 0: file },
      fields: {},
    };
    const body = multipart(["args", { first: crate, second: 1 }], ["f0", "one", "z"]);
    for (const modules of [{}, { modules: true }] as const) {
      const change = await pass(
        await deployUploads(modules),
        endpoint,
        (args) => args.set("second", aFile()),
        body,
      );
      expect(change.value).toEqual([{ is: "Crate", content: shown }, shownFile]);
      const removal = await pass(
        await deployUploads(modules),
        endpoint,
        (args) => args.set("first", aFile()),
        body,
      );
      expect(removal.value).toEqual([shownFile, 1]);
    }
  });

  it("a malformed upload is refused by the node, or when middleware looks, and the next one works", async () => {
    const uploads = await deployUploads();
    const cut = odd.slice(0, -10);
    const message = "The multipart body ends before its last boundary";
    expect((await pass(uploads, endpoint, () => undefined, cut)).value).toContain(message);
    expect((await pass(uploads, endpoint, (args) => args.size, cut)).value).toContain(message);
    expect((await pass(uploads, endpoint, () => undefined, odd)).value).toEqual([shown, 1]);
  });
});
