// Breakpoints in the application's TypeScript, as an editor sets them: by the source maps of what the
// process has loaded.

import { readFileSync } from "node:fs";
import { SourceMap } from "node:module";
import { fileURLToPath } from "node:url";

import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { WebSocket } from "undici";

import { anyPort, type Application, buildPackage, createApplication } from "./_application.ts";

interface Script {
  readonly scriptId: string;
  readonly url: string;
  readonly sourceMapURL: string;
}

interface Paused {
  readonly callFrames: readonly { readonly functionName: string }[];
}

/** An answer to a command, or an event. */
interface Message {
  readonly id?: number;
  readonly method?: string;
  readonly params?: unknown;
  readonly result?: unknown;
  readonly error?: unknown;
}

/** The inspector of a process, of which a few commands are used. */
class Inspector {
  readonly scripts: Script[] = [];
  readonly paused: Promise<Paused>;
  readonly #socket: WebSocket;
  readonly #answers = new Map<number, (answer: { result?: unknown; error?: unknown }) => void>();
  #count = 0;

  constructor(socket: WebSocket) {
    this.#socket = socket;
    this.paused = new Promise((resolve) => {
      socket.addEventListener("message", ({ data }) => {
        const { id, method, params, ...answer } = JSON.parse(String(data)) as Message;
        if (id !== undefined) this.#answers.get(id)?.(answer);
        else if (method === "Debugger.scriptParsed") this.scripts.push(params as Script);
        else if (method === "Debugger.paused") resolve(params as Paused);
      });
    });
  }

  static async open(url: string): Promise<Inspector> {
    const socket = new WebSocket(url);
    await new Promise((resolve) => socket.addEventListener("open", resolve));
    return new Inspector(socket);
  }

  async send(method: string, params: object = {}): Promise<unknown> {
    const id = ++this.#count;
    const answer = new Promise<{ result?: unknown; error?: unknown }>((resolve) =>
      this.#answers.set(id, resolve),
    );
    this.#socket.send(JSON.stringify({ id, method, params }));
    const { result, error } = await answer;
    if (error !== undefined) throw new Error(`${method}: ${JSON.stringify(error)}`);
    return result;
  }

  close(): void {
    this.#socket.close();
  }
}

/** Where a line of a source is in a script; `undefined` if it isn't in it. Lines count from 0. */
function placeOf({ url, sourceMapURL }: Script, source: string, line: number): object | undefined {
  const text = sourceMapURL.startsWith("data:")
    ? Buffer.from(sourceMapURL.slice(sourceMapURL.indexOf(",") + 1), "base64").toString()
    : readFileSync(fileURLToPath(new URL(sourceMapURL, url)), "utf8");
  const base = url.startsWith("/") ? `file://${url}` : url;
  const map = new SourceMap(JSON.parse(text) as ConstructorParameters<typeof SourceMap>[0]);
  for (let lineNumber = 0; lineNumber < 100; lineNumber++)
    for (let columnNumber = 0; columnNumber < 40; columnNumber++) {
      const entry = map.findEntry(lineNumber, columnNumber);
      if (!("originalSource" in entry) || entry.generatedLine !== lineNumber) continue;
      const found = fileURLToPath(new URL(entry.originalSource, base));
      if (found === source && entry.originalLine === line)
        return { lineNumber, columnNumber: entry.generatedColumn };
    }
  return undefined;
}

describe("a breakpoint on a line of a procedure", () => {
  let application: Application;
  beforeAll(async () => {
    buildPackage();
    application = await createApplication();
    await application.put("index.html", "<!doctype html><title>Cloth</title>");
    await application.put("seamline.json", { mode: "standalone", url: anyPort });
    const source = `type Rolls = ReadonlyMap<string, number>;

const rolls: Rolls = new Map([["tweed", 12]]);

export async function metresLeft(sku: string): Promise<number> {
  const metres = rolls.get(sku);
  return metres ?? 0;
}
`;
    await application.publish("shop/stock", source, ["metresLeft"]);
    expect(await application.seamline(["build"]).ended()).toBe(0);
  }, 60_000);
  afterAll(async () => await application.remove());

  it.each([
    { title: "seamline start", words: ["start", "--no-build"], address: /standalone at (\S+)/ },
    {
      title: "seamline dev",
      words: ["dev", "--port", "0", "--json"],
      address: /"url":"([^"]+?)\/?"/,
    },
  ])("binds, and stops a call there: in $title", async ({ words, address }) => {
    const env = { NODE_OPTIONS: "--inspect=0" };
    const command = application.seamline(words, env);
    const [url = ""] = await command.says(/ws:\/\/127\.0\.0\.1:\S+/);
    const inspector = await Inspector.open(url);
    await inspector.send("Debugger.enable");
    const [, origin = ""] = await command.says(address);
    const call = async (): Promise<string> =>
      await (await fetch(`${origin}/rpc/shop/metresLeft?sku=tweed`)).text();
    expect(await call()).toBe("12");
    const source = `${application.root}/src/shop/stock.ts`;
    const places = (): object[] =>
      inspector.scripts.flatMap((script) => {
        if (script.sourceMapURL === "" || !script.url.includes("stock")) return [];
        const place = placeOf(script, source, 5);
        return place === undefined ? [] : [{ scriptId: script.scriptId, ...place }];
      });
    // The inspector's events come over a connection of their own, so they may be later than the answer.
    await expect.poll(() => places().length).toBe(1);
    await inspector.send("Debugger.setBreakpoint", { location: places()[0] });
    const answer = call();
    expect((await inspector.paused).callFrames[0]?.functionName).toBe("metresLeft");
    await inspector.send("Debugger.resume");
    expect(await answer).toBe("12");
    inspector.close();
    await command.ended("SIGTERM");
  });
});
