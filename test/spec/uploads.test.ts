// Files among a call's arguments: how the call is sent, and what the procedure gets.

import { beforeAll, describe, expect, it } from "vitest";

import { defaultLimits } from "../../src/base/limits.ts";
import {
  aFile,
  ask,
  Crate,
  deployUploads,
  encodedForm,
  marked,
  multipart,
  shownFile,
  type Uploads,
} from "./_uploads.ts";

const crossSite = { "sec-fetch-site": "cross-site" };
const form = { "content-type": encodedForm["content-type"] };
const limits = { ...defaultLimits, bodyBytes: 300, uploadBytes: 2_000, uploadParts: 5 };

describe("files in a call", () => {
  let uploads: Uploads;
  beforeAll(async () => void (uploads = await deployUploads()));

  it("uploads-1: arguments that hold a File, Blob or FormData make a multipart/form-data call in the serialized encoding: the part args, then the files", async () => {
    const { cluster, send } = uploads;
    cluster.network.sent.length = 0;
    await send({ deep: [aFile("x", "a.txt")] }, new Blob(["y"], { type: "a/b" }));
    const [call] = cluster.network.sent.filter(({ url }) => url.includes("u/show"));
    expect(call?.headers["x-svc-data-encoding"]).toBe("serialized, superjson");
    const boundary = /^multipart\/form-data; boundary=(.*)$/.exec(
      call?.headers["content-type"] ?? "",
    )?.[1];
    expect(boundary).toMatch(/^seamline-[0-9a-f]{32}$/);
    const file = {
      part: "f0",
      mediaType: "text/plain",
      fileName: "a.txt",
      lastModified: 86_400_000,
    };
    const args = JSON.stringify({
      first: { deep: [marked("File", file)] },
      second: marked("Blob", { part: "f1", mediaType: "a/b" }),
    });
    const head = 'Content-Disposition: form-data; name="';
    expect(call?.body.split(`--${boundary}`)).toEqual([
      "",
      `\r\n${head}args"\r\n\r\n${args}\r\n`,
      `\r\n${head}f0"; filename="f0"\r\nContent-Type: text/plain\r\n\r\nx\r\n`,
      `\r\n${head}f1"; filename="f1"\r\nContent-Type: a/b\r\n\r\ny\r\n`,
      "--\r\n",
    ]);
  });

  it.each<[string, unknown, unknown]>([
    ["a File", aFile(), shownFile],
    [
      "an empty File without type or name",
      new File([], "", { lastModified: 0 }),
      { ...shownFile, name: "", type: "", text: "", lastModified: 0 },
    ],
    [
      "a Blob",
      new Blob(["b"], { type: "image/png" }),
      { is: "Blob", type: "image/png", text: "b" },
    ],
    [
      "files in lists and objects",
      { a: [aFile(), { b: aFile("2") }] },
      { a: [shownFile, { b: { ...shownFile, text: "2" } }] },
    ],
    [
      "a File as key and value of a Map",
      new Map([[aFile(), aFile()]]),
      { is: "Map", entries: [[shownFile, shownFile]] },
    ],
    [
      "a File in an instance",
      new Crate({ file: aFile() }),
      { is: "Crate", content: { file: shownFile } },
    ],
    [
      "a File beside a date",
      [new Date(0), aFile()],
      [{ is: "Date", value: "1970-01-01T00:00:00.000Z" }, shownFile],
    ],
    [
      "data that looks like a form",
      [{ serialized: true, name: "File", part: "f0" }, aFile()],
      [{ serialized: true, name: "File", part: "f0" }, shownFile],
    ],
  ])(
    "uploads-2: a procedure gets each file where it stood, with bytes, name, type and time: %s",
    async (_, value, shown) => {
      expect(await uploads.send(value, 1)).toEqual([shown, 1]);
    },
  );

  it("uploads-3: a FormData arrives with its entries in their order, text and files", async () => {
    const data = new FormData();
    data.append("b", "2");
    data.append("a", aFile());
    data.append("b", "täxt\r\n");
    expect(await uploads.send(data, new FormData())).toEqual([
      {
        is: "FormData",
        entries: [
          ["b", "2"],
          ["a", shownFile],
          ["b", "täxt\r\n"],
        ],
      },
      { is: "FormData", entries: [] },
    ]);
  });

  it("a FormData without a file arrives as one, also in an instance (uploads-3)", async () => {
    const data = new FormData();
    data.append("b", "2");
    data.append("b", "3");
    const entries = [
      ["b", "2"],
      ["b", "3"],
    ];
    expect(await uploads.send(data, { deep: new FormData() })).toEqual([
      { is: "FormData", entries },
      { deep: { is: "FormData", entries: [] } },
    ]);
    expect(await uploads.send(new Crate(data), 1)).toEqual([
      { is: "Crate", content: { is: "FormData", entries } },
      1,
    ]);
  });

  it("uploads-4: the same File in two places is sent in two parts", async () => {
    const file = aFile();
    expect(await uploads.send([file, file], file)).toEqual([[shownFile, shownFile], shownFile]);
  });

  it.each<[string, () => unknown]>([
    ["the file first", () => cyclic({ file: aFile() })],
    ["the cycle first", () => Object.assign(cyclic({}), { file: aFile() })],
    ["a FormData", () => cyclic({ form: new FormData() })],
    ["a Blob", () => cyclic({ blob: new Blob() })],
  ])("uploads-5: files can't be sent beside a cycle: %s", async (_, make) => {
    await expect(uploads.send(make(), 1)).rejects.toThrow(
      /^args\.first\.\w+: a (File|FormData|Blob) can't be sent beside a cycle/,
    );
  });

  it("uploads-6: a field of a FormData can't be called __proto__, constructor or prototype", async () => {
    for (const name of ["__proto__", "constructor", "prototype"]) {
      const data = new FormData();
      data.append(name, "1");
      await expect(uploads.send(data, 1)).rejects.toThrow(
        `args: no receiver takes the form field '${name}'`,
      );
      const entries = marked("FormData", { entries: [[name, "1"]] });
      const body = multipart(["args", { first: entries, second: 1 }]);
      expect(await ask(uploads.standalone, "POST", "/rpc/u/show", encodedForm, body)).toMatchObject(
        {
          status: 400,
          text: expect.stringContaining(
            `args.first.entries[0]: the field name '${name}' is not allowed`,
          ) as string,
        },
      );
    }
  });
});

function cyclic(value: Record<string, unknown>): object {
  value["again"] = value;
  return value;
}

describe("a form that names no encoding, as curl -F sends it", () => {
  let uploads: Uploads;
  beforeAll(async () => void (uploads = await deployUploads()));
  const post = async (service: "proxy" | "standalone", body: string, more: object = {}) =>
    await ask(uploads[service], "POST", "/rpc/u/form", { ...form, ...more }, body);

  it.each(["proxy", "standalone"] as const)(
    "uploads-7: its fields are arguments by name: text is converted as in a GET, and a part with a file name is a File (at the %s)",
    async (service) => {
      const body = multipart(
        ["count", "3"],
        ["born", "2020-01-01"],
        ["tags", "a"],
        ["tags", "b"],
        ["file", "täxt", "a.txt"],
      );
      const answer = await post(service, body);
      expect(answer.status).toBe(200);
      const [file, count, born, tags] = JSON.parse(answer.text) as object[];
      expect(file).toMatchObject({ is: "File", name: "a.txt", type: "text/x", text: "täxt" });
      expect([count, born, tags]).toEqual([
        3,
        { is: "Date", value: "2020-01-01T00:00:00.000Z" },
        ["a", "b"],
      ]);
    },
  );

  it("a field that is given more than once is a list, of files too (uploads-7)", async () => {
    const body = multipart(["file", "1", "a"], ["file", "2", "b"], ["note", "x"], ["note", "y"]);
    expect(JSON.parse((await post("standalone", body)).text)).toMatchObject(
      [[{ name: "a" }, { name: "b" }], undefined, undefined, undefined, ["x", "y"]].map(
        (value) => value ?? null,
      ),
    );
  });

  it.each([
    [
      "text that doesn't convert",
      multipart(["count", "three"]),
      "parameter 'count' must be a number",
    ],
    ["a file for a number", multipart(["count", "3", "a"]), "parameter 'count' must be a number"],
    ["an unknown name", multipart(["cuont", "3"]), "Unknown parameter 'cuont'"],
    ["a rest parameter", multipart(["...more", "3"]), "parameter '...more' can't be a form field"],
    [
      "text that isn't UTF-8",
      new Uint8Array(
        [...new TextEncoder().encode(multipart(["note", "~"]))].map((byte) =>
          byte === 0x7e ? 0xff : byte,
        ),
      ),
      "The form field 'note' is not UTF-8: give a file its file name",
    ],
    [
      "the name __proto__",
      multipart(["__proto__", "1"]),
      "Part 1 of the multipart body is named '__proto__', which is not allowed",
    ],
  ])("uploads-8: a field that doesn't fit the parameters is 400: %s", async (_, body, text) => {
    const answer = await ask(uploads.proxy, "POST", "/rpc/u/form", form, body);
    expect(answer).toMatchObject({ status: 400, text });
  });

  it("uploads-9: a page of another origin can't send it, unless the procedure is safe; with the encoding's header it needs a preflight", async () => {
    for (const service of ["proxy", "standalone"] as const) {
      expect((await post(service, multipart(["count", "3"]), crossSite)).status).toBe(403);
      expect(
        (
          await post(service, multipart(["count", "3"]), {
            ...crossSite,
            "x-svc-data-encoding": "",
          })
        ).status,
      ).toBe(403);
      const safe = await ask(
        uploads[service],
        "POST",
        "/rpc/u/safe",
        { ...form, ...crossSite },
        multipart(),
      );
      expect(safe.text).toBe("ran");
      const body = multipart(["args", { count: 3 }]);
      expect((await post(service, body, { ...encodedForm, ...crossSite })).status).toBe(200);
    }
  });

  it("an empty body has no arguments, and no part either (uploads-7)", async () => {
    expect((await post("standalone", "")).text).toBe("[null,null,null,null,null]");
    expect((await post("standalone", "--b--\r\n")).text).toBe("[null,null,null,null,null]");
  });
});

describe("a multipart call that isn't valid", () => {
  let uploads: Uploads;
  beforeAll(async () => void (uploads = await deployUploads({ limits })));
  const file = (part: unknown, more: object = {}): object =>
    marked("File", { part, fileName: "a", mediaType: "", ...more });
  const post = async (
    body: string,
    headers: object = encodedForm,
    service: "proxy" | "standalone" = "proxy",
  ) => await ask(uploads[service], "POST", "/rpc/u/show", headers as Record<string, string>, body);
  const args = (first: unknown): readonly [string, object] => ["args", { first, second: 1 }];

  it.each<[string, string, string, object?]>([
    [
      "a reference to no part",
      multipart(args(file("f1")), ["f0", "x", "f0"]),
      "args.first: there is no part 'f1'",
    ],
    [
      "a reference to the part args",
      multipart(args(file("args"))),
      "args.first: there is no part 'args'",
    ],
    [
      "a reference to __proto__",
      multipart(args(file("__proto__"))),
      "args.first: there is no part '__proto__'",
    ],
    [
      "a reference that is no text",
      multipart(args(file({}))),
      "args.first: there is no part '[object Object]'",
    ],
    [
      "a part in two forms",
      multipart(args([file("f0"), file("f0")]), ["f0", "x", "f0"]),
      "args.first[1]: the part 'f0' belongs to another form already",
    ],
    [
      "a part in no form",
      multipart(args(1), ["f0", "x", "f0"]),
      "The part 'f0' belongs to no File or Blob in 'args'",
    ],
    [
      "two parts of one name",
      multipart(args(file("f0")), ["f0", "x", "f0"], ["f0", "y", "f0"]),
      "Two parts of the call are named 'f0'",
    ],
    [
      "args that isn't first",
      multipart(["f0", "x", "f0"], args(file("f0"))),
      "The first part of a multipart call in the serialized encoding must be 'args', its arguments as JSON",
    ],
    [
      "no args",
      multipart(),
      "The first part of a multipart call in the serialized encoding must be 'args', its arguments as JSON",
    ],
    ["args twice", multipart(args(1), args(1)), "Two parts of the call are named 'args'"],
    [
      "args as a file",
      multipart(["args", {}, "args"]),
      "The first part of a multipart call in the serialized encoding must be 'args', its arguments as JSON",
    ],
    ["args that isn't JSON", multipart(["args", "{"]), "The text is not JSON"],
    ["args that isn't an object", multipart(["args", "[]"]), "The body must be a JSON object"],
    [
      "a File without a name",
      multipart(args(marked("File", { part: "f0" })), ["f0", "x", "f0"]),
      "args.first: this is not a valid File form",
    ],
    [
      "a Blob with a name",
      multipart(args(marked("Blob", { part: "f0", fileName: "a" })), ["f0", "x", "f0"]),
      "args.first: a Blob form can only have the members name, part, mediaType",
    ],
    [
      "a time that is no number",
      multipart(args(file("f0", { lastModified: "1" })), ["f0", "x", "f0"]),
      "args.first: this is not a valid File form",
    ],
    [
      "entries that are no list",
      multipart(args(marked("FormData", { entries: {} }))),
      "args.first: 'entries' must be an array",
    ],
    [
      "an entry of no pair",
      multipart(args(marked("FormData", { entries: [["a"]] }))),
      "args.first.entries[0]: an entry of a FormData form must be a list of name and value",
    ],
    [
      "an entry that is an object",
      multipart(args(marked("FormData", { entries: [["a", {}]] }))),
      "args.first.entries[0]: the value of a FormData entry must be text or a File form",
    ],
    [
      "a body without a boundary",
      multipart(args(1)),
      "The content type multipart/form-data needs a boundary of 1 to 70 characters",
      { ...encodedForm, "content-type": "multipart/form-data" },
    ],
    [
      "a body that is cut off",
      multipart(args(1)).slice(0, -20),
      "The multipart body ends before its last boundary",
    ],
    [
      "too many parts",
      multipart(args(1), ["a", ""], ["b", ""], ["c", ""], ["d", ""], ["e", ""]),
      "More than 5 parts (limit 'uploadParts')",
    ],
  ])(
    "uploads-10: what doesn't fit together is 400, and says where: %s",
    async (_, body, message, headers) => {
      for (const service of ["proxy", "standalone"] as const) {
        const answer = await post(body, headers, service);
        expect([answer.status, (JSON.parse(answer.text) as { message: string }).message]).toEqual([
          400,
          message,
        ]);
      }
      expect((await post(multipart(args(file("f0")), ["f0", "x", "f0"]))).status).toBe(200);
    },
  );

  it("uploads-11: a form that refers to a part, outside of a multipart call, is 400", async () => {
    for (const form of [
      file("f0"),
      marked("Blob", { part: "f0" }),
      marked("FormData", { entries: [] }),
    ]) {
      const headers = { ...encodedForm, "content-type": "application/json" };
      const answer = await post(JSON.stringify({ first: form, second: 1 }), headers);
      expect([answer.status, (JSON.parse(answer.text) as { message: string }).message]).toEqual([
        400,
        `args.first: a ${(form as { name: string }).name} form needs a multipart/form-data call, with its bytes in a part`,
      ]);
    }
  });

  it("uploads-12: a multipart body over uploadBytes is 413, as is text in it over bodyBytes", async () => {
    const big = "x".repeat(1_500);
    const upload = multipart(args(file("f0")), ["f0", big, "f0"]);
    expect((await post(upload)).status).toBe(200);
    const over = multipart(args(file("f0")), ["f0", big + big, "f0"]);
    expect(await post(over)).toMatchObject({
      status: 413,
      text: expect.stringContaining("2000") as string,
    });
    expect((await post(multipart(args("x".repeat(300))))).text).toContain(
      "The part 'args' is over the limit of 300 bytes (limit 'bodyBytes')",
    );
    const fields = multipart(["first", "x".repeat(200)], ["second", "x".repeat(200)]);
    expect(await post(fields, form)).toMatchObject({
      status: 413,
      text: "The form's text is over the limit of 300 bytes (limit 'bodyBytes')",
    });
  });

  it("uploads-13: other types of content, a compressed body and the superjson encoding stay 415", async () => {
    for (const headers of [
      { ...encodedForm, "content-type": "multipart/mixed; boundary=b" },
      { ...encodedForm, "content-encoding": "gzip" },
      { ...encodedForm, "x-svc-data-encoding": "superjson" },
    ])
      expect((await post(multipart(args(1)), headers)).status).toBe(415);
  });
});

it("uploads-14: a procedure can return a File, but not a FormData, in either encoding", async () => {
  const { standalone } = await deployUploads();
  for (const headers of [{}, { "x-svc-data-encoding": "serialized" }] as const) {
    expect(await ask(standalone, "GET", "/rpc/u/form-data", headers)).toMatchObject({
      status: 500,
      headers: { "x-svc-error": "ValueNotSerializable" },
      text: expect.stringContaining(
        "result: a procedure can't return a FormData: return its entries, as an object or a Map",
      ) as string,
    });
    expect(await ask(standalone, "GET", "/rpc/u/file", headers)).toMatchObject({
      status: 200,
      headers: { "content-security-policy": "sandbox; default-src 'none'" },
    });
  }
});
