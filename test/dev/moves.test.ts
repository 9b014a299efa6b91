import { readFileSync } from "node:fs";
import { join } from "node:path";

import { describe, expect, it } from "vitest";

import { develop, eventually, shop } from "./_session.ts";

const office =
  '{ "./shop/quote": { "quote": { "access": "public" }, "counts": { "access": "public" } } }\n';
const officeWithout = '{ "./shop/quote": { "counts": { "access": "public" } } }\n';
const store =
  '{ "./shop/stock": { "stock": { "access": "public" }, "worth": { "access": "public" } } }\n';
const storeWith =
  '{ "./shop/stock": { "stock": { "access": "public" }, "worth": { "access": "public" } }, "./shop/quote": { "quote": { "access": "public" } } }\n';

interface Calls {
  readonly answers: readonly unknown[];
  /** Waits until so many further calls that began after this are answered. */
  more(count: number): Promise<void>;
  stop(): Promise<void>;
}

/** Calls until it is stopped, four at a time. */
function calling(call: () => Promise<unknown>): Calls {
  const answers: unknown[] = [];
  const stopping = new AbortController();
  const atOnce = 4;
  const loop = async (): Promise<void> => {
    while (!stopping.signal.aborted) answers.push(await call());
  };
  const all = Promise.all(Array.from({ length: atOnce }, loop));
  return {
    answers,
    async more(count) {
      const enough = answers.length + atOnce + count;
      await expect.poll(() => answers.length).toBeGreaterThanOrEqual(enough);
    },
    async stop() {
      stopping.abort();
      await all;
    },
  };
}

describe("an edited segment file", () => {
  it("an edited segment file moves a procedure to another node without failing a call", async () => {
    const { write, get, nextEvent, session, events } = await develop(shop);
    const places = () => session.procedures().find(({ fqn }) => fqn === "shop/quote")?.nodes;
    const outside = calling(async () => await get("/rpc/shop/quote?sku=abc"));
    const inside = calling(async () => await get("/rpc/shop/worth?sku=abc"));
    const both = async (): Promise<unknown> => await Promise.all([outside.more(1), inside.more(1)]);
    await both();
    for (let round = 0; round < 5; round++) {
      const since = events.length;
      write({
        "segments/office.segment.json": officeWithout,
        "segments/store.segment.json": storeWith,
      });
      await nextEvent("moved", since);
      await eventually(places, (nodes) => nodes?.join() === "store");
      expect(places()).toEqual(["store"]);
      await both();
      const back = events.length;
      write({ "segments/office.segment.json": office, "segments/store.segment.json": store });
      await nextEvent("moved", back);
      await eventually(places, (nodes) => nodes?.join() === "office");
      await both();
    }
    await both();
    await Promise.all([outside.stop(), inside.stop()]);
    const different = [outside, inside].map(({ answers }) => [
      ...new Set(answers.map((answer) => JSON.stringify(answer))),
    ]);
    expect(different).toEqual([
      ['{"status":200,"value":{"amount":60}}'],
      ['{"status":200,"value":180}'],
    ]);
  });

  it("two saves of segment files are reported as one move, or as its halves if the machine is slow", async () => {
    const { write, session, events } = await develop(shop);
    const places = () =>
      session
        .procedures()
        .find(({ fqn }) => fqn === "shop/quote")
        ?.nodes.join();
    const since = events.length;
    write({ "segments/store.segment.json": storeWith });
    expect(await eventually(places, (nodes) => nodes === "office,store")).toBe("office,store");
    write({ "segments/office.segment.json": officeWithout });
    const reported = () =>
      events.slice(since).flatMap((event) => (event.kind === "moved" ? event.procedures : []));
    await eventually(reported, (moves) => moves.at(-1)?.to.join() === "store");
    const both = ["office", "store"];
    // With a clock of its own, test/unit/server/settle.alone.test.ts knows which.
    expect([
      [{ fqn: "shop/quote", from: ["office"], to: ["store"] }],
      [
        { fqn: "shop/quote", from: ["office"], to: both },
        { fqn: "shop/quote", from: both, to: ["store"] },
      ],
    ]).toContainEqual(reported());
  });

  it("an edit of a module and of segment files names only the procedures that a node still runs as replaced there", async () => {
    const { write, nextEvent, events } = await develop(shop);
    const replaced = () => events.filter(({ kind }) => kind === "replaced");
    write({
      "segments/office.segment.json": officeWithout,
      "segments/store.segment.json": storeWith,
      "src/shop/quote.ts": shop["src/shop/quote.ts"]!.replace("* margin", "* 3"),
    });
    await nextEvent("moved");
    await eventually(replaced, (found) => found.length > 0);
    expect(replaced()).toMatchObject([{ procedures: ["shop/counts"], where: ["office"] }]);
  });

  it("a procedure stays where it was for a while when no segment file names it any more", async () => {
    const { write, get, nextEvent, session, events } = await develop(shop);
    write({ "segments/office.segment.json": officeWithout });
    expect((await nextEvent("warning")).problem.message).toMatch(
      /no segment file names shop\/quote any more: it stays where it is for 10 s/,
    );
    expect((await get("/rpc/shop/quote?sku=abc")).value).toEqual({ amount: 60 });
    const since = events.length;
    // Other files in the folder, such as the session's own output, don't end the wait.
    write({ "dev.log": "a line\n" });
    await new Promise((resolve) => setTimeout(resolve, 500));
    expect((await get("/rpc/shop/quote?sku=abc")).value).toEqual({ amount: 60 });
    write({ "segments/store.segment.json": storeWith });
    expect((await nextEvent("moved", since)).procedures).toEqual([
      { fqn: "shop/quote", from: ["office"], to: ["store"] },
    ]);
    expect(session.nodes().map(({ procedures }) => procedures)).toEqual([1, 3]);
  });

  it("an edit of a procedure's access is live at once", async () => {
    const { edit, get } = await develop(shop);
    edit(
      "segments/store.segment.json",
      '"stock": { "access": "public" }',
      '"stock": { "access": "private" }',
    );
    expect(
      (
        await eventually(
          async () => await get("/rpc/shop/stock?sku=a"),
          ({ status }) => status === 404,
        )
      ).status,
    ).toBe(404);
    expect((await get("/rpc/shop/worth?sku=abc")).value).toBe(180);
    edit(
      "segments/store.segment.json",
      '"stock": { "access": "private" }',
      '"stock": { "access": "public" }',
    );
    expect(
      (
        await eventually(
          async () => await get("/rpc/shop/stock?sku=a"),
          ({ status }) => status === 200,
        )
      ).status,
    ).toBe(200);
  });

  it("a new segment file starts a node, and a removed one stops its node", async () => {
    const { write, remove, get, nextEvent, session, events } = await develop(shop);
    write({
      "src/shop/dye.ts":
        "export async function dye(name: string): Promise<string> {\n  return `dyed ${name}`;\n}\n",
      "segments/dyes.segment.json": '{ "./shop/dye": { "dye": { "access": "public" } } }',
    });
    await eventually(
      () => session.nodes(),
      (nodes) => nodes.some(({ name, state }) => name === "dyes" && state === "ready"),
    );
    expect(
      (
        await eventually(
          async () => await get("/rpc/shop/dye?name=a"),
          ({ status }) => status === 200,
        )
      ).value,
    ).toBe("dyed a");
    const since = events.length;
    remove("src/shop/dye.ts");
    remove("segments/dyes.segment.json");
    await eventually(
      () => session.nodes(),
      (nodes) => nodes.length === 2,
    );
    expect(events.slice(since)).toContainEqual(
      expect.objectContaining({ kind: "node", node: "dyes", state: "stopped" }),
    );
    expect((await nextEvent("moved", since)).procedures).toEqual([
      { fqn: "shop/dye", from: ["dyes"], to: [] },
    ]);
    expect((await get("/rpc/shop/dye?name=a")).status).toBe(404);
  });

  it("session.move rewrites the segment files", async () => {
    const { root, session, nextEvent, events } = await develop(shop);
    const read = (name: string): unknown => JSON.parse(readFileSync(join(root, name), "utf8"));
    await session.move("shop/quote", "store");
    await eventually(
      () => session.procedures().find(({ fqn }) => fqn === "shop/quote")?.nodes,
      (nodes) => nodes?.join() === "store",
    );
    expect(read("segments/office.segment.json")).toEqual({
      "./shop/quote": { counts: { access: "public" } },
    });
    expect(read("segments/store.segment.json")).toMatchObject({
      "./shop/quote": { quote: { access: "public" } },
    });
    const since = events.length;
    await session.move("shop/quote", "archive");
    await nextEvent("moved", since);
    expect(read("segments/archive.segment.json")).toEqual({
      "./shop/quote": { quote: { access: "public" } },
    });
    await eventually(
      () => session.procedures().find(({ fqn }) => fqn === "shop/quote")?.nodes,
      (nodes) => nodes?.join() === "archive",
    );
    await eventually(
      () => session.nodes(),
      (nodes) => nodes.some(({ name, state }) => name === "archive" && state === "ready"),
    );
    expect((await session.call("shop/quote", { sku: "abc" })).node).toBe("archive");
    await expect(session.move("shop/none", "store")).rejects.toThrow(
      "There is no procedure 'shop/none'",
    );
  });
});

it("a procedure that moves to a browser segment isn't found on servers any more", async () => {
  const { write, get, session } = await develop(shop);
  write({
    "segments/store.segment.json": '{ "./shop/stock": { "worth": { "access": "public" } } }',
    "segments/ui.segment.json":
      '{ "./ui/filter": { "filter": { "access": "public" } }, "./shop/stock": { "stock": { "access": "public" } } }',
  });
  expect(
    (
      await eventually(
        async () => await get("/rpc/shop/stock?sku=a"),
        ({ status }) => status === 404,
      )
    ).status,
  ).toBe(404);
  expect(session.procedures().find(({ fqn }) => fqn === "shop/stock")?.nodes).toEqual(["page"]);
});

describe("the nodes of a session", () => {
  it("'nodes' puts several segments on one node, and browser segments on nodes too", async () => {
    const { session, get, edit } = await develop({
      ...shop,
      "seamline.json":
        '{ "mode": "standalone", "url": "http://127.0.0.1:0", "nodes": { "one": ["office", "store"], "two": ["ui", "office"] } }',
    });
    expect(session.nodes().map(({ name, segments }) => [name, segments])).toEqual([
      ["one", ["office", "store"]],
      ["two", ["ui", "office"]],
    ]);
    expect((await get('/rpc/ui/filter?words=["a",""]')).status).toBe(200);
    edit("seamline.json", '"two": ["ui", "office"]', '"three": ["ui"]');
    await eventually(
      () => session.nodes().map(({ name, state }) => `${name} ${state}`),
      (nodes) => nodes.join() === "one ready,three ready",
    );
    expect(session.nodes().map(({ name, state }) => `${name} ${state}`)).toEqual([
      "one ready",
      "three ready",
    ]);
  });

  it("a configuration and a segment file that are saved together are live on nodes and in pages", async () => {
    const configuration = '{ "mode": "standalone", "url": "http://127.0.0.1:0" }';
    const { write, get, text, session, events } = await develop({
      ...shop,
      "seamline.json": configuration,
      "src/shop/quote.ts": (shop["src/shop/quote.ts"] ?? "").replace("  calls++;\n", ""),
      "segments/office.segment.json": '{ "./shop/quote": { "quote": { "access": "public" } } }\n',
    });
    // Vite has transformed the modules for nodes and for a page.
    expect((await get("/rpc/shop/quote?sku=abc")).status).toBe(200);
    expect(await text("/src/shop/quote.ts")).not.toContain('"shop/counts"');
    const since = events.length;
    write({
      "segments/office.segment.json": office,
      "seamline.json": configuration.replace("}", ', "nodes": { "all": ["office", "store"] } }'),
    });
    await eventually(
      () => session.nodes().map(({ name, state }) => `${name} ${state}`),
      ([all]) => all === "all ready",
    );
    expect((await get("/rpc/shop/counts")).value).toEqual({ own: 0, shared: 0 });
    expect(await text("/src/shop/quote.ts")).toContain('"shop/counts"');
    expect(events.slice(since)).not.toContainEqual(expect.objectContaining({ state: "failed" }));
  });
});
