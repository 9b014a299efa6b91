// Problems stay in sight until they are solved: in the terminal, over pages and in the console.

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { createLogger, createServer } from "vite";
import { expect, it, onTestFinished } from "vitest";

import { seamline } from "../../server/vite/vite-plugin.ts";
import { freePort } from "../_free-port.ts";
import { openPage } from "./_page.ts";
import { createApplication, develop, eventually, shop, splitUnderVitest } from "./_session.ts";

const mistake = [
  "segments/store.segment.json",
  '"access": "public"',
  '"access": "publik"',
] as const;

it("a problem that another change leaves is named again, until it is fixed", async () => {
  const running = await develop(shop);
  const { edit, nextEvent, events } = running;
  edit(...mistake);
  const { problems } = await nextEvent("problems");
  for (const words of ["one", "two"]) {
    const since = events.length;
    edit("src/shop/suppliers.ts", "return", `// ${words}\n  return`);
    expect((await nextEvent("unsolved", since)).problems).toEqual(problems);
  }
  // It is told as a new one only once.
  expect(events.filter(({ kind }) => kind === "problems")).toHaveLength(1);
  const since = events.length;
  edit(mistake[0], mistake[2], mistake[1]);
  await nextEvent("mended", since);
  edit("src/shop/suppliers.ts", "// two", "// three");
  await nextEvent("reloaded", since);
  expect(events.slice(since).map(({ kind }) => kind)).not.toContain("unsolved");
});

it("a page that opens while a problem is left shows it, also after another change", async () => {
  const running = await develop(shop);
  const { edit, nextEvent, session } = running;
  edit(...mistake);
  await nextEvent("problems");
  const page = await openPage(session.url);
  const shown = (): unknown => page.messages.filter(({ type }) => type === "error").length;
  expect(await eventually(shown, (count) => count === 1)).toBe(1);
  edit("src/shop/suppliers.ts", "return", "// one\n  return");
  await nextEvent("unsolved");
  const over = page.messages.findLast(
    ({ type, event }) => type === "error" || event === "seamline:mended",
  );
  expect(over).toMatchObject({ type: "error" });
  page.close();
});

it("plain `vite` has the same lines in its own log", async () => {
  splitUnderVitest();
  const { root } = createApplication(shop);
  const lines: string[] = [];
  const logger = createLogger("silent");
  const server = await createServer({
    root,
    configFile: false,
    customLogger: {
      ...logger,
      info: (line) => void lines.push(line),
      warn: (line) => void lines.push(line),
      error: (line) => void lines.push(line),
    },
    server: { port: await freePort(), host: "127.0.0.1" },
    plugins: [seamline()],
  });
  onTestFinished(async () => await server.close());
  await server.listen();
  const edit = (file: string, from: string, to: string): void => {
    const path = join(root, file);
    const text = readFileSync(path, "utf8");
    expect(text).toContain(from);
    writeFileSync(path, text.replace(from, to));
  };
  const says = async (pattern: RegExp): Promise<void> => {
    const text = (): string => lines.join("\n");
    expect(await eventually(text, (found) => pattern.test(found))).toMatch(pattern);
    lines.length = 0;
  };
  const url = server.resolvedUrls?.local[0] ?? "";
  expect(await (await fetch(`${url}rpc/shop/stock?sku=abc`)).json()).toBe(3);
  edit("src/shop/stock.ts", "return sku.length;", "return sku.length + 1;");
  await says(
    /^replaced shop\/stock and shop\/worth on node store, \d+ ms; their own state starts anew$/m,
  );
  edit(...mistake);
  await says(
    /^error: segments\/store\.segment\.json:1:\d+ at .*expected "public"[^]*publik[^]*→ Did you mean "public"\?\n1 problem: what ran before keeps running$/m,
  );
  edit("src/shop/stock.ts", "+ 1;", "+ 2;");
  await says(/^1 problem left: segments\/store\.segment\.json:1:\d+ at .*expected "public".*$/m);
  edit(mistake[0], mistake[2], mistake[1]);
  await says(/^mended: no problem is left$/m);
});
