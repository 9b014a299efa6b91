// Routes in a development session: edited, moved, added, removed and mistaken while it runs.

import { describe, expect, it } from "vitest";

import { formatProblem } from "../../src/base/problem.ts";
import { develop, eventually } from "./_session.ts";

const entry = (route: string, more = {}) => ({ access: "public", route, ...more });
const segment = (entries: Readonly<Record<string, Readonly<Record<string, unknown>>>>): string =>
  `${JSON.stringify(entries)}\n`;

const site = "segments/site.segment.json";
const shop = "segments/shop.segment.json";
const feedEntry = { "./site/feed": { feed: entry("GET /feed.xml") } };
const priceEntry = { "./shop/price": { price: { access: "public" } } };
const hookEntry = { "./site/hook": { hook: entry("POST /hooks/:provider") } };

describe("a route", () => {
  it("the log names a route whose answer breaks off, and the module that did it", async () => {
    const { session, logged } = await develop({
      "index.html": "<!doctype html><title>Site</title>\n",
      [site]: segment(feedEntry),
      "src/site/feed.ts": `export async function feed(): Promise<Response> {
  const body = new ReadableStream({
    start: (controller) => controller.enqueue(new TextEncoder().encode("half")),
    pull: () => Promise.reject(new Error("the source is gone")),
  });
  return new Response(body);
}
`,
    });
    const answer = await fetch(new URL("/feed.xml", session.url));
    await expect(answer.text()).rejects.toThrow();
    const broken = () => logged.find((line) => line.includes("could not be answered"));
    const line = await eventually(broken, (found) => found !== undefined);
    expect(line).toContain(
      "Error: The route 'site/feed' broke off its answer\ncaused by Error: the source is gone",
    );
    expect(line).toMatch(/caused by Error: the source is gone\n.*src\/site\/feed\.ts/);
  });
});

describe("routes while they are edited", () => {
  it("edits, new patterns, moves, additions, removals and mistakes of routes take effect without a restart", async () => {
    const running = await develop({
      "index.html": "<!doctype html><title>Site</title>\n",
      [site]: segment({ ...feedEntry, ...hookEntry }),
      [shop]: segment(priceEntry),
      "src/shop/price.ts": "export async function price(): Promise<number> {\n  return 7;\n}\n",
      "src/site/feed.ts":
        'export async function feed(): Promise<Response> {\n  return new Response("one");\n}\n',
      "src/site/hook.ts":
        'import { getContext } from "seamline";\nexport async function hook(request: Request): Promise<Response> {\n  return new Response(getContext().params.provider + " " + (await request.text()));\n}\n',
    });
    const { session, events, write, edit, remove, nextEvent } = running;
    const send = async (method: string, path: string): Promise<string> => {
      const body = method === "POST" ? '{"a":1}' : null;
      // Not */*: then Vite answers unknown paths with the page.
      const headers = { "content-type": "application/json", accept: "text/plain" };
      const answer = await fetch(new URL(path, session.url), { method, headers, body });
      const node = answer.headers.get("x-svc-node") ?? "-";
      return `${answer.status} ${node} ${(await answer.text()).slice(0, 40)}`;
    };
    const become = async (method: string, path: string, expected: string | RegExp) => {
      const isExpected = (text: string): boolean =>
        typeof expected === "string" ? text === expected : expected.test(text);
      const text = await eventually(async () => await send(method, path), isExpected, 10_000);
      expect(text).toEqual(
        typeof expected === "string" ? expected : expect.stringMatching(expected),
      );
    };
    const problems = async (since: number): Promise<string> =>
      (await nextEvent("problems", since)).problems.map(formatProblem).join("\n");

    await become("GET", "/feed.xml", "200 site one");
    await become("POST", "/hooks/bank", '200 site bank {"a":1}');
    expect(session.procedures().map(({ fqn, route, nodes }) => [fqn, route, nodes])).toEqual([
      ["shop/price", undefined, ["shop"]],
      ["site/feed", "GET /feed.xml", ["site"]],
      ["site/hook", "POST /hooks/:provider", ["site"]],
    ]);

    // The function's body
    let since = events.length;
    edit("src/site/feed.ts", '"one"', '"two"');
    await become("GET", "/feed.xml", "200 site two");
    expect((await nextEvent("replaced", since)).procedures).toEqual(["site/feed"]);

    // The pattern
    write({ [site]: segment({ "./site/feed": { feed: entry("GET /news.xml") }, ...hookEntry }) });
    await become("GET", "/news.xml", "200 site two");
    await become("GET", "/feed.xml", /^404 -/);

    // Another segment, and so another node
    since = events.length;
    write({ [site]: segment(hookEntry), [shop]: segment({ ...priceEntry, ...feedEntry }) });
    await become("GET", "/feed.xml", "200 shop two");
    expect(JSON.stringify((await nextEvent("moved", since)).procedures)).toContain("site/feed");
    await become("GET", "/news.xml", /^404 -/);
    await session.move("site/feed", "site");
    await become("GET", "/feed.xml", "200 site two");

    // Removed with its module, and others added
    remove("src/site/feed.ts");
    write({ [site]: segment(hookEntry) });
    await become("GET", "/feed.xml", /^404 -/);
    write({
      "src/site/feed.ts":
        'export async function feed(): Promise<Response> {\n  return new Response("two");\n}\n',
      "src/site/home.ts":
        'export async function home(): Promise<Response> {\n  return new Response("home");\n}\n',
      [site]: segment({ "./site/home": { home: entry("GET /home") }, ...hookEntry }),
    });
    await become("GET", "/home", "200 site home");

    // Two patterns for the same requests, in two files
    since = events.length;
    write({ [shop]: segment({ ...priceEntry, "./site/feed": { feed: entry("* /hooks/:name") } }) });
    const clash = await problems(since);
    expect(clash).toContain(shop);
    expect(clash).toContain(site);
    expect(clash).toMatch(/\* \/hooks\/:name.*POST \/hooks\/:provider|POST.*\*/);
    await become("POST", "/hooks/bank", '200 site bank {"a":1}');
    since = events.length;
    write({ [shop]: segment({ ...priceEntry, ...feedEntry }) });
    await nextEvent("mended", since);
    await become("GET", "/feed.xml", "200 shop two");

    // An entry without its export
    since = events.length;
    write({
      [shop]: segment({
        ...priceEntry,
        "./site/feed": { feed: entry("GET /feed.xml"), gone: entry("GET /gone") },
      }),
    });
    expect(await problems(since)).toContain('"gone"');
    await become("GET", "/feed.xml", "200 shop two");
    since = events.length;
    edit(
      "src/site/feed.ts",
      "export async function feed",
      'export async function gone(): Promise<Response> {\n  return new Response("here");\n}\nexport async function feed',
    );
    await nextEvent("mended", since);
    await become("GET", "/gone", "200 shop here");

    // A module that is gone
    since = events.length;
    remove("src/site/home.ts");
    expect(await problems(since)).toContain("site/home");
    await become("POST", "/hooks/bank", '200 site bank {"a":1}');
  });
});

describe("an open stream of a route", () => {
  const aborted: string[] = [];
  Reflect.set(globalThis, "aborted streams", aborted);
  const clockText = (said: string): string => `import { word } from "./word.ts";
const aborted = (globalThis as never as Record<string, string[]>)["aborted streams"]!;
export async function feed(request: Request): Promise<Response> {
  const text = new TextEncoder();
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      controller.enqueue(text.encode("data: ${said} " + word + "\\n\\n"));
      request.signal.addEventListener("abort", () => {
        aborted.push(String(request.signal.reason.message));
        if (request.url.endsWith("closes")) controller.close();
      });
    },
  });
  return new Response(body, { headers: { "content-type": "text/event-stream" } });
}
`;
  const files = {
    "index.html": "<!doctype html><title>Site</title>\n",
    [site]: segment(feedEntry),
    "src/site/word.ts": 'export const word = "tweed";\n',
    "src/site/feed.ts": clockText("one"),
  };
  /** Reads to the end of an answer, and says how it ended. */
  const readAll = async (response: Response): Promise<string> => {
    let text = "";
    try {
      for await (const chunk of response.body!) text += new TextDecoder().decode(chunk);
      return `${text}[ended]`;
    } catch {
      return `${text}[broken off]`;
    }
  };

  it("has its signal aborted and breaks off when its module is edited, unless it ends by itself", async () => {
    aborted.length = 0;
    const { session, edit } = await develop(files);
    const open = async (query: string): Promise<Response> =>
      await fetch(new URL(`/feed.xml${query}`, session.url));
    const [waiting, closing] = await Promise.all([open("?waits"), open("?closes")]);
    const texts = Promise.all([waiting, closing].map(readAll));
    edit("src/site/feed.ts", "data: one", "data: two");
    expect(await texts).toEqual(["data: one tweed\n\n[broken off]", "data: one tweed\n\n[ended]"]);
    expect(aborted).toEqual(Array(2).fill("the module of the route 'site/feed' has been replaced"));
    const again = await open("?closes");
    const next = readAll(again);
    edit("src/site/word.ts", "tweed", "linen");
    expect(await next).toBe("data: two tweed\n\n[ended]");
    expect(aborted.length).toBe(3);
  });

  it("goes on when another module is edited, and ends when its route is removed", async () => {
    aborted.length = 0;
    const { session, write, edit, nextEvent, events } = await develop({
      ...files,
      [shop]: segment(priceEntry),
      "src/shop/price.ts": "export async function price(): Promise<number> {\n  return 7;\n}\n",
    });
    const text = readAll(await fetch(new URL("/feed.xml?waits", session.url)));
    const since = events.length;
    edit("src/shop/price.ts", "7", "8");
    await nextEvent("replaced", since);
    expect(aborted).toEqual([]);
    write({ [site]: "{}\n" });
    expect(await text).toBe("data: one tweed\n\n[broken off]");
    expect(aborted.length).toBe(1);
  });
});
